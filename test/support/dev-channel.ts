/** Posts of the dev channel, as a developer's program signs them: with the library of Standard Webhooks. */
import { Webhook } from 'standardwebhooks'
import { newId } from '#kernel/ids'
import type { OpenConnection } from '#port/channel/channel'
import { newWebhookSecret } from '#port/webhook'

export interface DevPost {
  routingKey: string
  id?: string
  sender: string
  name?: string
  thread?: string
  text: string
  attachments?: { name: string; mimeType?: string; text?: string }[]
}

export const devConnection = (given: Partial<OpenConnection> = {}): OpenConnection => ({
  ...{ id: newId(), routingKey: 'desk', config: {}, credentials: { secret: newWebhookSecret() } },
  ...given,
})

interface Signing {
  secret: string
  at?: Date
  /** The webhook-id. */
  id?: string
}

/** Headers that sign this text. */
export const devHeaders = (body: string, { secret, at = new Date(), id = newId() }: Signing): Record<string, string> => ({
  'content-type': 'application/json',
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-signature': new Webhook(secret).sign(id, at, body),
})

/** Sends a signed post to the server at this address. */
export const postDev = async (url: string, post: DevPost, signing: Signing) => {
  const body = JSON.stringify(post)
  const response = await fetch(`${url}/webhooks/channels/dev`, { method: 'POST', headers: devHeaders(body, signing), body })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
}
