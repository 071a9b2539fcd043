/**
 * Plays Meta's Graph API on loopback, according to its documentation: messages, phone numbers and
 * media of WhatsApp's Cloud API.
 */
import { createHmac } from 'node:crypto'
import { openReceiver, type Received, type ReceiverAnswer } from '../http/receiver.ts'
import { type Business, business, newMessageId } from './whatsapp-posts.ts'

export interface WhatsAppMessage {
  id: string
  from: string
  to?: string
  recipient?: string
  text: string
  /** The message that this one quotes. */
  quotes?: string
  /** What its status posts carry. */
  ours?: string
}

export interface FakeMeta extends AsyncDisposable {
  /** For CHANNEL_URLS. */
  urls: { whatsapp: string }
  /** What was sent, oldest first. */
  messages: WhatsAppMessage[]
  requests: Received[]
  businesses: Business[]
  /** By media id. `url`: where Meta says it is, instead of its own host. */
  media: Map<string, { body: Buffer; mimeType: string; url?: string }>
  /** Answers for other paths of Meta's host. */
  onPath: Map<string, ReceiverAnswer>
  /** People who wrote more than 24 hours ago. */
  silent: Set<string>
  /** Replace the usual answers to the next requests. `taken`: the message is sent all the same. */
  next: (ReceiverAnswer & { taken?: boolean })[]
}

const json = (body: object, status = 200): ReceiverAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=UTF-8', 'x-fb-request-id': 'AbCdEf' },
  body: JSON.stringify(body),
})

/** An error of the Graph API, with its usual status. */
export const graphError = (
  code: number,
  {
    message = `(#${code}) an error`,
    status = 400,
    ...more
  }: Record<string, unknown> & { status?: number } = {},
) =>
  json(
    { error: { message, type: 'OAuthException', code, fbtrace_id: 'AcGjZ0QmFL6Q', ...more } },
    status,
  )

export const openMeta = async (businesses: Business[] = [business]): Promise<FakeMeta> => {
  const receiver = await openReceiver()
  const notThere = (id: string) =>
    graphError(100, {
      message: `Unsupported get request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions`,
      error_subcode: 33,
      type: 'GraphMethodException',
    })

  const send = (from: Business, body: string): ReceiverAnswer => {
    const message = JSON.parse(body) as Record<string, unknown> & {
      to?: string
      recipient?: string
      text?: { body?: string }
    }
    const { to, recipient, text, context, biz_opaque_callback_data: ours } = message
    if (message.messaging_product !== 'whatsapp')
      return graphError(100, { message: '(#100) The parameter messaging_product is required.' })
    if (to === undefined && recipient === undefined)
      return graphError(100, { message: '(#100) The parameter to is required.' })
    if (message.type !== 'text' || !text?.body)
      return graphError(131008, { message: '(#131008) Required parameter is missing' })
    if (text.body.length > 4_096)
      return graphError(100, {
        message: '(#100) Param text["body"] must be at most 4096 characters long.',
      })
    const person = String(to ?? recipient)
    if (meta.silent.has(person))
      return graphError(131047, { message: '(#131047) Re-engagement message' })
    const id = newMessageId()
    const quotes = (context as { message_id?: string } | undefined)?.message_id
    const sent = {
      id,
      from: from.phoneNumberId,
      ...(to ? { to } : {}),
      ...(recipient ? { recipient } : {}),
      text: text.body,
      ...(quotes ? { quotes } : {}),
      ...(typeof ours === 'string' ? { ours } : {}),
    }
    meta.messages.push(sent)
    return json({
      messaging_product: 'whatsapp',
      contacts: [{ input: person, wa_id: person }],
      messages: [{ id }],
    })
  }

  const numberOf = ({ phoneNumberId, displayPhoneNumber }: Business, fields: string) => {
    const all: Record<string, string> = {
      id: phoneNumberId,
      display_phone_number: displayPhoneNumber,
      verified_name: 'Jasper’s Market',
      quality_rating: 'GREEN',
    }
    return json(
      Object.fromEntries(
        ['id', ...fields.split(',')].flatMap((name) => (all[name] ? [[name, all[name]]] : [])),
      ),
    )
  }

  const mediaOf = (id: string): ReceiverAnswer => {
    const found = meta.media.get(id)
    if (!found) return notThere(id)
    const sha256 = createHmac('sha256', '').update(found.body).digest('hex')
    const url =
      found.url ??
      `http://127.0.0.1:${receiver.port}/whatsapp_business/attachments/?mid=${id}&ext=1664537344&hash=ARtBt`
    return json({
      messaging_product: 'whatsapp',
      url,
      mime_type: found.mimeType,
      sha256,
      file_size: String(found.body.length),
      id,
    })
  }

  /** Meta's host for media requires the token and a user agent. */
  const file = ({ headers }: Received, id: string | null): ReceiverAnswer => {
    const found = meta.media.get(id ?? '')
    if (!found || !headers['user-agent'] || !byToken(headers.authorization)) return { status: 404 }
    return { status: 200, headers: { 'content-type': found.mimeType }, body: found.body }
  }

  const byToken = (authorization: string | undefined) =>
    businesses.find(({ accessToken }) => authorization === `Bearer ${accessToken}`)

  const isProven = (proof: string | null, { appSecret, accessToken }: Business) =>
    proof === null || proof === createHmac('sha256', appSecret).update(accessToken).digest('hex')

  const graph = (
    { method, body, headers }: Received,
    path: string[],
    query: URLSearchParams,
  ): ReceiverAnswer => {
    const owner = byToken(headers.authorization)
    if (!owner)
      return graphError(190, {
        message: 'Error validating access token: Session has expired',
        status: 401,
        error_subcode: 463,
      })
    if (!isProven(query.get('appsecret_proof'), owner))
      return graphError(100, {
        message: 'Invalid appsecret_proof provided in the API argument',
        type: 'GraphMethodException',
      })
    const [id = '', edge] = path
    const number = businesses.find(
      ({ phoneNumberId, accessToken }) => phoneNumberId === id && accessToken === owner.accessToken,
    )
    if (method === 'POST' && edge === 'messages') return number ? send(number, body) : notThere(id)
    return number ? numberOf(number, query.get('fields') ?? '') : mediaOf(id)
  }

  const usual = (request: Received): ReceiverAnswer => {
    const { pathname, searchParams } = new URL(request.url, 'http://graph')
    const [version = '', ...path] = pathname.slice(1).split('/')
    const other = meta.onPath.get(pathname)
    if (other) return other
    return /^v\d+\.0$/.test(version)
      ? graph(request, path, searchParams)
      : file(request, searchParams.get('mid'))
  }

  receiver.answer = (request) => {
    const scripted = meta.next.shift()
    if (!scripted) return usual(request)
    const { taken, ...answer } = scripted
    if (taken) usual(request)
    return answer
  }

  const meta: FakeMeta = {
    urls: { whatsapp: `http://127.0.0.1:${receiver.port}/v25.0` },
    messages: [],
    requests: receiver.requests,
    businesses,
    media: new Map(),
    onPath: new Map(),
    silent: new Set(),
    next: [],
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
  return meta
}
