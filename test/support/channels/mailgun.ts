/**
 * Plays Mailgun, as its documentation describes it (messages, domains, routes with forward() and
 * store(), securing webhooks): https://documentation.mailgun.com.
 */
import { createHmac, randomBytes } from 'node:crypto'

export interface MailgunFailure {
  status: number
  headers?: Record<string, string>
  body?: string
  /** The mail is sent all the same. */
  isTaken?: boolean
}

export interface FakeMailgun extends AsyncDisposable {
  url: string
  apiKey: string
  signingKey: string
  /** The fields of what was sent, oldest first. */
  mails: Record<string, string>[]
  requests: string[]
  domains: Map<string, { state: string; is_disabled?: boolean }>
  /** Files of stored mails, by path. */
  stored: Map<string, { type: string; bytes: Uint8Array }>
  fail(...failures: MailgunFailure[]): void
  /** A post of a route, signed as Mailgun signs it. */
  post(to: string, mail: RoutedMail, changes?: MailgunPostChanges): Request
  /** The address of a file that Mailgun stores. */
  store(
    domain: string,
    name: string,
    bytes: Uint8Array,
    type?: string,
  ): { url: string; name: string; size: number; 'content-type': string }
}

export interface RoutedMail {
  recipient?: string
  sender?: string
  from?: string
  subject?: string
  'body-plain'?: string
  'body-html'?: string
  /** With `message-headers`, `Message-Id` and the like made of them. */
  headers?: [string, string][]
  /** Makes the post multipart, as forward() does. */
  files?: { name: string; type: string; bytes: Uint8Array }[]
  /** By store(): as JSON. */
  attachments?: unknown[]
  [field: string]: unknown
}

export interface MailgunPostChanges {
  by?: string
  at?: Date
  token?: string
  signature?: string
}

/** As documented: the time and the token, one after the other. */
const mailgunSignature = (key: string, timestamp: string, token: string): string =>
  createHmac('sha256', key)
    .update(timestamp + token)
    .digest('hex')

const fieldsOf = ({
  headers = [],
  files,
  attachments,
  ...given
}: RoutedMail): [string, string][] => {
  const plain = String(given['body-plain'] ?? 'What is due today?')
  const id: [string, string] = ['Message-Id', `<${randomBytes(8).toString('hex')}@example.org>`]
  const all = headers.some(([name]) => name.toLowerCase() === 'message-id')
    ? headers
    : [...headers, id]
  const fields = {
    recipient: 'agent@example.com',
    sender: 'ada@example.org',
    from: 'Ada <ada@example.org>',
    subject: 'A question',
    'body-plain': plain,
    'stripped-text': plain,
    'stripped-signature': '',
    ...given,
    ...(attachments ? { attachments: JSON.stringify(attachments) } : {}),
    ...(files ? { 'attachment-count': String(files.length) } : {}),
    'message-headers': JSON.stringify(all),
  }
  return [
    ...all,
    ...Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
  ]
}

const posted = (
  key: string,
  to: string,
  mail: RoutedMail,
  changes: MailgunPostChanges = {},
): Request => {
  const { by = key, at = new Date(), token = randomBytes(25).toString('hex') } = changes
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const signature = changes.signature ?? mailgunSignature(by, timestamp, token)
  const fields: [string, string][] = [
    ...fieldsOf(mail),
    ['timestamp', timestamp],
    ['token', token],
    ['signature', signature],
  ]
  if (!mail.files) return new Request(to, { method: 'POST', body: new URLSearchParams(fields) })
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value)
  for (const [at, { name, type, bytes }] of mail.files.entries())
    form.append(`attachment-${at + 1}`, new Blob([bytes], { type }), name)
  return new Request(to, { method: 'POST', body: form })
}

const take = async (
  fake: FakeMailgun,
  failures: MailgunFailure[],
  request: Request,
  domain: string,
): Promise<Response> => {
  const type = request.headers.get('content-type') ?? ''
  const form = type.startsWith('multipart/')
    ? await request.formData()
    : new URLSearchParams(await request.text())
  const failure = failures.shift()
  if (failure && !failure.isTaken)
    return new Response(failure.body ?? JSON.stringify({ message: 'an error' }), {
      status: failure.status,
      headers: failure.headers ?? {},
    })
  const fields = Object.fromEntries([...form].map(([name, value]) => [name, String(value)]))
  if (!fake.domains.has(domain))
    return Response.json({ message: `Domain not found: ${domain}` }, { status: 404 })
  for (const name of ['from', 'to'])
    if (!fields[name])
      return Response.json({ message: `${name} parameter is missing` }, { status: 400 })
  if (!fields.text && !fields.html)
    return Response.json(
      { message: "Need at least one of 'text' or 'html' parameters specified" },
      { status: 400 },
    )
  fake.mails.push(fields)
  if (failure) return new Response('', { status: failure.status })
  return Response.json({
    id: fields['h:Message-Id'] ?? `<${randomBytes(8).toString('hex')}@${domain}>`,
    message: 'Queued. Thank you.',
  })
}

const described = ({ domains }: FakeMailgun, name: string): Response => {
  const domain = domains.get(name)
  if (!domain) return Response.json({ message: 'Domain not found' }, { status: 404 })
  return Response.json({
    domain: {
      id: '5f0',
      name,
      type: 'custom',
      created_at: 'Mon, 23 Nov 2026 10:00:00 GMT',
      is_disabled: false,
      ...domain,
    },
    receiving_dns_records: [
      { record_type: 'MX', valid: 'valid', priority: '10', value: 'mxa.mailgun.org', cached: [] },
    ],
    sending_dns_records: [],
  })
}

const answer = async (
  fake: FakeMailgun,
  failures: MailgunFailure[],
  request: Request,
): Promise<Response> => {
  const { pathname } = new URL(request.url)
  fake.requests.push(`${request.method} ${pathname}`)
  const basic = `Basic ${Buffer.from(`api:${fake.apiKey}`).toString('base64')}`
  if (request.headers.get('authorization') !== basic)
    return new Response('Forbidden', { status: 401 })
  const sending = /^\/v3\/([^/]+)\/messages$/.exec(pathname)
  if (sending && request.method === 'POST')
    return take(fake, failures, request, decodeURIComponent(sending[1]!))
  const failure = failures.shift()
  if (failure)
    return new Response(failure.body ?? '{}', {
      status: failure.status,
      headers: failure.headers ?? {},
    })
  const domain = /^\/v4\/domains\/([^/]+)$/.exec(pathname)
  if (domain) return described(fake, decodeURIComponent(domain[1]!))
  const file = fake.stored.get(pathname)
  return file
    ? new Response(file.bytes, { headers: { 'content-type': file.type } })
    : Response.json({ message: 'Not found' }, { status: 404 })
}

export const openMailgun = ({ port = 0 } = {}): FakeMailgun => {
  const failures: MailgunFailure[] = []
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    fetch: (request) => answer(fake, failures, request),
  })
  const signingKey = randomBytes(16).toString('hex')
  const fake: FakeMailgun = {
    url: `http://127.0.0.1:${server.port}`,
    apiKey: `key-${randomBytes(16).toString('hex')}`,
    signingKey,
    mails: [],
    requests: [],
    domains: new Map(),
    stored: new Map(),
    fail: (...added) => void failures.push(...added),
    post: (to, mail, changes) => posted(signingKey, to, mail, changes),
    store(domain, name, bytes, type = 'text/plain') {
      const path = `/v3/domains/${domain}/messages/${randomBytes(20).toString('base64url')}/attachments/0`
      fake.stored.set(path, { type, bytes })
      return { url: `${fake.url}${path}`, name, size: bytes.length, 'content-type': type }
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  return fake
}
