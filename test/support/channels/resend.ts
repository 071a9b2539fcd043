/**
 * Plays Resend, as its documentation describes it (send, receiving, attachments, domains, errors,
 * idempotency keys, `email.received`): https://resend.com/docs. Its webhooks are Svix's:
 * https://docs.svix.com/receiving/verifying-payloads/how-manual.
 */
import { createHmac, randomBytes, randomUUID } from 'node:crypto'

interface ResendMail {
  id: string
  from: string
  to: string[]
  subject: string
  text?: string
  html?: string
  headers?: Record<string, string>
}

export interface ReceivedMail {
  id: string
  from: string
  to: string[]
  subject: string
  message_id: string
  text: string | null
  html: string | null
  headers: Record<string, string>
  files: { id: string; filename: string; content_type: string; bytes: Uint8Array }[]
}

export interface ResendFailure {
  status: number
  name?: string
  headers?: Record<string, string>
  /** Instead of Resend's JSON. */
  body?: string
  /** The mail is sent all the same. Affects no request before that of the next mail. */
  isTaken?: boolean
}

export interface FakeResend extends AsyncDisposable {
  url: string
  /** Where attachments are. */
  cdnUrl: string
  apiKey: string
  signingSecret: string
  /** Sent, oldest first. */
  mails: ResendMail[]
  requests: string[]
  domains: { id: string; name: string; status: string; capabilities?: Record<string, string> }[]
  received: Map<string, ReceivedMail>
  fail(...failures: ResendFailure[]): void
  /** A mail arrives, and the returned post announces it. */
  receive(mail: Partial<ReceivedMail>): ReceivedMail
  /** The post about a mail that has arrived, signed as Svix signs it. */
  post(to: string, mail: ReceivedMail, changes?: ResendPostChanges): Request
}

export interface ResendPostChanges {
  by?: string
  at?: Date
  type?: string
  data?: Record<string, unknown>
  headers?: Record<string, string>
  id?: string
}

/** By the documentation: `{id}.{timestamp}.{body}` under the base64 that follows whsec_. */
const svixSignature = (secret: string, id: string, timestamp: number, body: string): string => {
  const key = Buffer.from(secret.split('_')[1]!, 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

const ATTACHED = { content_disposition: 'attachment', content_id: null }

const metadataOf = (mail: ReceivedMail) => ({
  email_id: mail.id,
  created_at: '2026-11-23T10:00:00.000000+00:00',
  from: mail.from,
  to: mail.to,
  bcc: [],
  cc: [],
  received_for: mail.to,
  message_id: mail.message_id,
  subject: mail.subject,
  attachments: mail.files.map(({ bytes, ...file }) => ({ ...file, ...ATTACHED })),
})

const posted = (
  secret: string,
  to: string,
  mail: ReceivedMail,
  changes: ResendPostChanges = {},
): Request => {
  const {
    by = secret,
    at = new Date(),
    type = 'email.received',
    data = {},
    headers = {},
    id = `msg_${mail.id}`,
  } = changes
  const body = JSON.stringify({
    type,
    created_at: '2026-11-23T10:00:00.000Z',
    data: { ...metadataOf(mail), ...data },
  })
  const timestamp = Math.floor(at.getTime() / 1_000)
  const signature = svixSignature(by, id, timestamp, body)
  const signed = {
    'svix-id': id,
    'svix-timestamp': String(timestamp),
    'svix-signature': signature,
    'content-type': 'application/json',
  }
  return new Request(to, {
    method: 'POST',
    headers: { ...signed, 'user-agent': 'Svix-Webhooks/1.75.0', ...headers },
    body,
  })
}

const errorOf = ({
  status,
  name = 'application_error',
  headers = {},
  body,
}: ResendFailure): Response =>
  body === undefined
    ? Response.json({ statusCode: status, name, message: `An error: ${name}` }, { status, headers })
    : new Response(body, { status, headers })

/** What a key was used to send; Resend remembers it for a day. */
interface Kept {
  body: string
  id: string
}

const take = async (
  fake: FakeResend,
  kept: Map<string, Kept>,
  failures: ResendFailure[],
  request: Request,
): Promise<Response> => {
  const body = await request.text()
  const failure = failures.shift()
  if (failure && !failure.isTaken) return errorOf(failure)
  const key = request.headers.get('idempotency-key')
  if (key !== null && (key === '' || key.length > 256))
    return errorOf({ status: 400, name: 'invalid_idempotency_key' })
  const before = key === null ? undefined : kept.get(key)
  if (before)
    return before.body === body
      ? Response.json({ id: before.id })
      : errorOf({ status: 409, name: 'invalid_idempotent_request' })
  const mail = JSON.parse(body) as Omit<ResendMail, 'id'>
  if (!mail.from || !mail.subject || !(mail.text || mail.html))
    return errorOf({ status: 422, name: 'missing_required_field' })
  const domain = /@([^@>]+)>?$/.exec(mail.from)?.[1]
  if (!fake.domains.some(({ name, status }) => name === domain && status === 'verified'))
    return errorOf({ status: 403, name: 'validation_error' })
  const id = randomUUID()
  fake.mails.push({ id, ...mail, to: [mail.to].flat() })
  if (key !== null) kept.set(key, { body, id })
  return failure ? errorOf(failure) : Response.json({ id })
}

const found = ({
  id,
  from,
  to,
  subject,
  message_id,
  text,
  html,
  headers,
  files,
}: ReceivedMail) => ({
  object: 'email',
  id,
  to,
  from,
  created_at: '2026-11-23T10:00:00.000000+00:00',
  subject,
  bcc: [],
  cc: [],
  reply_to: [],
  received_for: to,
  html,
  text,
  headers,
  message_id,
  raw: null,
  attachments: files.map(({ bytes, ...file }) => ({ ...file, ...ATTACHED, size: bytes.length })),
})

const listed = ({ domains }: FakeResend, query: URLSearchParams): Response => {
  const limit = Number(query.get('limit') ?? 20)
  const start = query.has('after')
    ? domains.findIndex(({ id }) => id === query.get('after')) + 1
    : 0
  const data = domains
    .slice(start, start + limit)
    .map((domain) => ({ ...domain, created_at: '2026-11-01T00:00:00Z', region: 'eu-west-1' }))
  return Response.json({ object: 'list', has_more: domains.length > start + limit, data })
}

const RECEIVING = /^\/emails\/receiving\/([^/]+)(?:\/attachments\/([^/]+))?$/

const answer = async (
  fake: FakeResend,
  kept: Map<string, Kept>,
  failures: ResendFailure[],
  request: Request,
): Promise<Response> => {
  const { pathname, searchParams, search } = new URL(request.url)
  fake.requests.push(`${request.method} ${pathname}${search}`)
  if (request.headers.get('authorization') !== `Bearer ${fake.apiKey}`)
    return errorOf({ status: 401, name: 'invalid_api_key' })
  if (request.method === 'POST' && pathname === '/emails')
    return take(fake, kept, failures, request)
  const failure = failures[0]?.isTaken ? undefined : failures.shift()
  if (failure) return errorOf(failure)
  if (pathname === '/domains') return listed(fake, searchParams)
  const [, mailId = '', fileId] = RECEIVING.exec(pathname) ?? []
  const mail = fake.received.get(mailId)
  const file = mail?.files.find(({ id }) => id === fileId)
  if (!mail || (fileId !== undefined && !file)) return errorOf({ status: 404, name: 'not_found' })
  if (!file) return Response.json(found(mail))
  const { bytes, ...described } = file
  const link = {
    download_url: `${fake.cdnUrl}/${mailId}/${fileId}?signature=sig`,
    expires_at: '2026-11-23T11:00:00Z',
  }
  return Response.json({ object: 'attachment', ...described, size: bytes.length, ...link })
}

const handOut = (fake: FakeResend, request: Request): Response => {
  if (request.headers.has('authorization'))
    return new Response('credentials for Resend alone', { status: 400 })
  const [, mailId = '', fileId] = new URL(request.url).pathname.split('/')
  const file = fake.received.get(mailId)?.files.find(({ id }) => id === fileId)
  return file
    ? new Response(file.bytes, { headers: { 'content-type': file.content_type } })
    : new Response('', { status: 404 })
}

export const openResend = ({ port = 0 } = {}): FakeResend => {
  const failures: ResendFailure[] = []
  const kept = new Map<string, Kept>()
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    fetch: (request) => answer(fake, kept, failures, request),
  })
  const cdn = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => handOut(fake, request),
  })
  const signingSecret = `whsec_${randomBytes(24).toString('base64')}`
  const fake: FakeResend = {
    url: `http://127.0.0.1:${server.port}`,
    cdnUrl: `http://127.0.0.1:${cdn.port}`,
    apiKey: `re_${randomBytes(12).toString('hex')}`,
    signingSecret,
    mails: [],
    requests: [],
    domains: [],
    received: new Map(),
    fail: (...added) => void failures.push(...added),
    receive(given) {
      const id = randomUUID()
      const mail: ReceivedMail = {
        id,
        from: 'Ada <ada@example.org>',
        to: ['agent@example.com'],
        subject: 'A question',
        message_id: `<${id}@example.org>`,
        text: 'What is due today?',
        html: null,
        headers: {},
        files: [],
        ...given,
      }
      fake.received.set(mail.id, mail)
      return mail
    },
    post: (to, mail, changes) => posted(signingSecret, to, mail, changes),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([server.stop(true), cdn.stop(true)])
    },
  }
  return fake
}
