import { newId } from '#kernel/ids'
import { newWebhookSecret, signedHeaders } from '#port/webhook'
import { eventually } from '#test/support/app'
import type { Place } from './place.ts'
import type { Rows } from './row.ts'

const CHANNELS = '/api/v1/channels'
const INBOUND = '/webhooks/channels'

const aConnection = (routingKey = newId(), secret = newWebhookSecret()) => ({
  channel: 'dev',
  routingKey,
  credentials: { secret },
})

/** A connection that is proven. */
const connected = async ({ made, person }: Place) => {
  const body = aConnection()
  const { connection } = await made('POST', CHANNELS, body, person)
  await eventually(
    () => made('GET', `${CHANNELS}/${connection.id}`),
    (shown) => shown.connection.status === 'active',
  )
  return {
    id: connection.id as string,
    routingKey: body.routingKey,
    secret: body.credentials.secret,
  }
}

/** A message, signed as the channel for developers wants it. */
const posted = ({ server }: Place, routingKey: string, secret: string) => {
  const [id, body] = [
    newId(),
    JSON.stringify({ routingKey, id: newId(), sender: 'anna', text: 'Hello' }),
  ]
  const { 'x-webhook-signature': _, ...headers } = signedHeaders({ id, at: new Date(), body }, [
    secret,
  ])
  return server.send('POST', `${INBOUND}/dev`, { key: null, body, headers })
}

export const channelRows: Rows = {
  'GET /api/v1/channels': { calls: ({ send }) => ({ 200: () => send('GET', CHANNELS) }) },
  'POST /api/v1/channels': {
    body: aConnection(),
    calls: async (place) => {
      const { routingKey } = await connected(place)
      const send = (body: object) => place.send('POST', CHANNELS, body, place.person)
      return {
        201: () => send(aConnection()),
        400: () => send({ ...aConnection(), channel: 'fax' }),
        409: () => send(aConnection(routingKey)),
      }
    },
  },
  'PATCH /api/v1/channels/{id}': {
    body: { displayName: 'Desk' },
    calls: async (place) => {
      const { id } = await connected(place)
      const send = (body: object) => place.send('PATCH', `${CHANNELS}/${id}`, body, place.person)
      return {
        200: () => send({ displayName: 'Help desk' }),
        400: () => send({ senderPolicy: 'nobody' }),
      }
    },
  },
  'DELETE /api/v1/channels/{id}': {
    calls: async (place) => {
      const { id } = await connected(place)
      return { 200: () => place.send('DELETE', `${CHANNELS}/${id}`, undefined, place.person) }
    },
  },
  'POST /webhooks/channels/{channel}': {
    unknown: 'fax',
    body: {},
    calls: async (place) => {
      const { routingKey, secret } = await connected(place)
      return {
        200: () => posted(place, routingKey, secret),
        401: () => posted(place, routingKey, newWebhookSecret()),
        // Nobody in the deployment has connected one.
        503: () => place.server.send('POST', `${INBOUND}/sms`, { key: null, body: {} }),
      }
    },
  },
}
