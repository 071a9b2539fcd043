/** The device flow of RFC 8628 and the revocation of RFC 7009. */
import { errorTable } from '#kernel/errors'
import { codeByStatus, commonHeaders } from './call.ts'
import { Failure } from './failure.ts'
import type { Host } from './host.ts'
import { pauseAfter, retry, type TryResult } from './retry.ts'
import { harmless } from './text.ts'
import type { Ask, Reply, Transport } from './transport.ts'

const CLIENT_ID = 'tendril-cli'
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
/** RFC 8628 §3.5: the default interval, and the increase after slow_down. */
const INTERVAL_S = 5
const SLOWEST_S = 60
const LONGEST_LIFE_S = 3_600

export interface Grant {
  access_token: string
  scope: string
  workspace?: { id: string; name?: string }
  /** Seconds; absent for an API key, which does not expire. */
  expires_in?: number
}

interface DeviceCode {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete?: string
  expires_in: number
  interval: number
}

const form = (path: string, fields: Record<string, string>): Ask => ({
  method: 'POST',
  path: `/api/v1/app/device/${path}`,
  headers: { ...commonHeaders, 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
  again: true,
})

const bodyOf = ({ text }: Reply): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** An OAuth error, or one of Tendril's. */
const refusalOf = (body: Record<string, unknown>): { code: string; message: string } => {
  const { error, error_description: description } = body
  if (typeof error === 'string')
    return { code: error, message: typeof description === 'string' ? description : error }
  const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string }
  return { code, message }
}

const failureFor = (reply: Reply, url: string): Failure => {
  const { code, message } = refusalOf(bodyOf(reply))
  if (reply.status === 404 && code !== 'not_found')
    return new Failure('not_found', `${url} is not a Tendril server that supports this login`, {
      hint: 'check --api-url, or pass a key with --api-key',
    })
  return new Failure(code || 'internal', message || `${url} returned ${reply.status}`, {
    exit: errorTable[codeByStatus(reply.status)].exit,
  })
}

const isCode = (body: Record<string, unknown>): boolean =>
  ['device_code', 'user_code', 'verification_uri'].every((name) => typeof body[name] === 'string')

const requireSuccess = (outcome: TryResult, url: string): Reply => {
  if ('cause' in outcome) {
    const { code, message } = outcome.cause as { code?: string; message?: string }
    throw new Failure('unavailable', `no response from ${url}: ${code ?? message}`)
  }
  if (outcome.reply.status === 200) return outcome.reply
  throw failureFor(outcome.reply, url)
}

const begin = async (transport: Transport, host: Host, scope: string): Promise<DeviceCode> => {
  const ask = form('code', { client_id: CLIENT_ID, scope, device_name: host.name })
  const body = bodyOf(
    requireSuccess(await retry(host, () => transport.exchange(ask), ask), transport.url),
  )
  if (!isCode(body)) throw new Failure('internal', `${transport.url} returned no device code`)
  const seconds = (name: string, usual: number) =>
    typeof body[name] === 'number' && body[name] > 0 ? body[name] : usual
  return {
    ...body,
    expires_in: Math.min(seconds('expires_in', 600), LONGEST_LIFE_S),
    interval: seconds('interval', INTERVAL_S),
  } as DeviceCode
}

const webAddress = (text: string | undefined): string | undefined =>
  text !== undefined && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
    ? new URL(text).href
    : undefined

const show = (code: DeviceCode, host: Host, browser: boolean): void => {
  const address = webAddress(code.verification_uri) ?? code.verification_uri
  host.stderr.write(
    harmless(
      `\nTo approve this device, open\n\n    ${address}\n\nand enter the code\n\n    ${code.user_code}\n\n`,
    ),
  )
  const direct = webAddress(code.verification_uri_complete) ?? webAddress(code.verification_uri)
  if (browser && direct) host.open(direct)
  host.stderr.write('Waiting for approval. Press ^C to cancel.\n')
}

const ended: Record<string, string> = {
  expired_token: 'the code expired before it was approved',
  access_denied: 'the request was denied in the browser',
  invalid_grant: 'the code is no longer valid',
}

/** Seconds until the next poll. */
const nextInterval = (outcome: TryResult, interval: number): number => {
  if ('cause' in outcome) return Math.min(interval * 2, SLOWEST_S)
  const { code } = refusalOf(bodyOf(outcome.reply))
  if (code === 'authorization_pending') return interval
  if (code === 'slow_down') return interval + INTERVAL_S
  if (outcome.reply.status === 429 || outcome.reply.status >= 500)
    return Math.min(interval * 2, SLOWEST_S)
  return -1
}

const grantOf = (body: Record<string, unknown>): Grant => {
  if (typeof body.access_token !== 'string')
    throw new Failure('internal', 'the server approved the request but returned no key')
  return { scope: '', ...body } as Grant
}

const isHopeless = (outcome: TryResult): boolean =>
  'cause' in outcome && pauseAfter(outcome, { tries: 1, elapsedMs: 0, again: true }) === undefined

/** Polls at the server's pace until the code is approved, denied or expired. */
const poll = async (transport: Transport, host: Host, code: DeviceCode): Promise<Grant> => {
  const until = host.now() + code.expires_in * 1_000
  const ask = form('token', {
    grant_type: GRANT,
    device_code: code.device_code,
    client_id: CLIENT_ID,
  })
  for (let interval = code.interval; ; ) {
    await host.pause(interval * 1_000)
    if (host.now() >= until)
      throw new Failure('unauthenticated', ended.expired_token!, {
        hint: 'run tendril login again',
      })
    const outcome: TryResult = await transport.exchange(ask).then(
      (reply) => ({ reply }),
      (cause: unknown) => ({ cause }),
    )
    host.signal.throwIfAborted()
    if ('reply' in outcome && outcome.reply.status === 200) return grantOf(bodyOf(outcome.reply))
    interval = nextInterval(outcome, interval)
    if (interval > 0 && !isHopeless(outcome)) continue
    const { code: error } = 'reply' in outcome ? refusalOf(bodyOf(outcome.reply)) : { code: '' }
    if (ended[error])
      throw new Failure('unauthenticated', ended[error], { hint: 'run tendril login again' })
    throw 'reply' in outcome ? failureFor(outcome.reply, transport.url) : outcome.cause
  }
}

export interface DeviceRequest {
  /** Space-separated. */
  scope: string
  browser: boolean
}

export const deviceLogin = async (
  transport: Transport,
  host: Host,
  { scope, browser }: DeviceRequest,
): Promise<Grant> => {
  const code = await begin(transport, host, scope)
  show(code, host, browser)
  return poll(transport, host, code)
}

/** Also succeeds for a token that the server no longer knows. */
export const revoke = async (transport: Transport, host: Host, token: string): Promise<void> => {
  const ask = form('revoke', { token, client_id: CLIENT_ID })
  requireSuccess(await retry(host, () => transport.exchange(ask), ask), transport.url)
}
