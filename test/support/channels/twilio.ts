/**
 * Plays Twilio, as its documentation describes it (Message, IncomingPhoneNumber and Media
 * resources, "Twilio's request to your incoming message webhook URL", "Webhooks security"):
 * https://www.twilio.com/docs/messaging.
 */
import { newSid, newToken, type PostChanges, posted, type TwilioFields } from './twilio-posts.ts'

interface TwilioMessage {
  sid: string
  to: string
  from: string
  body: string
}

/** How the next message is answered instead of being accepted. */
export interface TwilioFailure {
  status: number
  code?: number
  headers?: Record<string, string>
  /** Instead of Twilio's JSON. */
  body?: string
  /** The message is sent all the same. */
  isTaken?: boolean
}

export interface FakeTwilio extends AsyncDisposable {
  url: string
  /** Where media are. */
  cdnUrl: string
  accountSid: string
  authToken: string
  /** Oldest first. */
  messages: TwilioMessage[]
  /** What was asked, as `GET /path`. */
  requests: string[]
  numbers: { phone_number: string; capabilities: Record<string, boolean> }[]
  /** People who have written STOP. */
  optedOut: Set<string>
  /** Media by `message/media`. */
  media: Map<string, { type: string; bytes: Uint8Array }>
  fail(...failures: TwilioFailure[]): void
  /** A post of an incoming message, signed as Twilio signs it. */
  post(to: string, fields: TwilioFields, changes?: PostChanges): Request
}

const errorOf = ({ status, code = 0, headers = {} }: TwilioFailure): Response =>
  Response.json(
    {
      code,
      message: `Error ${code}`,
      more_info: `https://www.twilio.com/docs/errors/${code}`,
      status,
    },
    { status, headers: { 'content-type': 'application/json', ...headers } },
  )

const E164 = /^\+[1-9]\d{6,14}$/

/** Why Twilio would refuse it; undefined if it accepts it. */
const fault = (
  { numbers, optedOut }: FakeTwilio,
  { To = '', From = '', Body = '' }: Record<string, string>,
): TwilioFailure | undefined => {
  if (!E164.test(To)) return { status: 400, code: 21211 }
  const number = numbers.find(({ phone_number }) => phone_number === From)
  if (!number?.capabilities.sms) return { status: 400, code: 21606 }
  if (Body === '') return { status: 400, code: 21602 }
  if (Body.length > 1_600) return { status: 400, code: 21617 }
  if (optedOut.has(To)) return { status: 400, code: 21610 }
  return undefined
}

const resource = ({ sid, to, from, body }: TwilioMessage, accountSid: string) => ({
  account_sid: accountSid,
  api_version: '2010-04-01',
  body,
  date_created: 'Mon, 23 Nov 2026 12:00:00 +0000',
  date_sent: null,
  date_updated: 'Mon, 23 Nov 2026 12:00:00 +0000',
  direction: 'outbound-api',
  error_code: null,
  error_message: null,
  from,
  messaging_service_sid: null,
  num_media: '0',
  num_segments: '1',
  price: null,
  price_unit: 'USD',
  sid,
  status: 'queued',
  subresource_uris: {},
  tags: null,
  to,
  uri: `/2010-04-01/Accounts/${accountSid}/Messages/${sid}.json`,
})

const take = async (
  fake: FakeTwilio,
  failures: TwilioFailure[],
  request: Request,
): Promise<Response> => {
  const fields = Object.fromEntries(new URLSearchParams(await request.text()))
  const refusal = failures.shift() ?? fault(fake, fields)
  const message = { sid: newSid('SM'), to: fields.To!, from: fields.From!, body: fields.Body! }
  if (!refusal || refusal.isTaken) fake.messages.push(message)
  if (refusal?.body !== undefined)
    return new Response(refusal.body, { status: refusal.status, headers: refusal.headers ?? {} })
  if (refusal) return errorOf(refusal)
  return Response.json(resource(message, fake.accountSid), { status: 201 })
}

/** Twilio matches names in part. */
const listed = ({ numbers, accountSid }: FakeTwilio, query: URLSearchParams): Response => {
  const wanted = query.get('PhoneNumber') ?? ''
  const found = numbers.filter(({ phone_number }) =>
    phone_number.includes(wanted.replace(/^\+/, '')),
  )
  return Response.json({
    page: 0,
    page_size: 50,
    uri: `/2010-04-01/Accounts/${accountSid}/IncomingPhoneNumbers.json`,
    next_page_uri: null,
    incoming_phone_numbers: found.map((number) => ({
      account_sid: accountSid,
      sid: newSid('PN'),
      ...number,
    })),
  })
}

/** Another host, which gets no credentials, serves the bytes. */
const handOut = ({ media }: FakeTwilio, request: Request): Response => {
  if (request.headers.has('authorization'))
    return new Response('credentials for Twilio alone', { status: 400 })
  const found = media.get(new URL(request.url).pathname.slice(1))
  return found
    ? new Response(found.bytes, { headers: { 'content-type': found.type } })
    : new Response('', { status: 404 })
}

const answer = async (
  fake: FakeTwilio,
  failures: TwilioFailure[],
  request: Request,
): Promise<Response> => {
  const { pathname, searchParams } = new URL(request.url)
  fake.requests.push(`${request.method} ${pathname}`)
  const basic = `Basic ${Buffer.from(`${fake.accountSid}:${fake.authToken}`).toString('base64')}`
  if (request.headers.get('authorization') !== basic) return errorOf({ status: 401, code: 20003 })
  const rest = pathname.split(`/2010-04-01/Accounts/${fake.accountSid}/`)[1]
  if (rest === 'Messages.json' && request.method === 'POST') return take(fake, failures, request)
  if (rest === 'IncomingPhoneNumbers.json')
    return failures[0] ? errorOf(failures.shift()!) : listed(fake, searchParams)
  const media = /^Messages\/(MM\w+)\/Media\/(ME\w+)$/.exec(rest ?? '')
  if (media)
    return new Response('', {
      status: 307,
      headers: { location: `${fake.cdnUrl}/${media[1]}/${media[2]}` },
    })
  return errorOf({ status: 404, code: 20404 })
}

export const openTwilio = ({ port = 0 } = {}): FakeTwilio => {
  const failures: TwilioFailure[] = []
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    fetch: (request) => answer(fake, failures, request),
  })
  const cdn = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => handOut(fake, request),
  })
  const fake: FakeTwilio = {
    url: `http://127.0.0.1:${server.port}`,
    cdnUrl: `http://127.0.0.1:${cdn.port}`,
    accountSid: newSid('AC'),
    authToken: newToken(),
    messages: [],
    requests: [],
    numbers: [],
    optedOut: new Set(),
    media: new Map(),
    fail: (...added) => void failures.push(...added),
    post: (to, fields, changes) => posted(fake.authToken, to, fields, changes),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([server.stop(true), cdn.stop(true)])
    },
  }
  return fake
}
