/** Serves an operation over HTTP: turns the request into a call, and the result into an answer. */
import type { Kind } from '#contract/kinds'
import { isExempt, type NamedOp, readsOnly } from '#contract/op'
import { AppError } from '#kernel/errors'
import type { Slots } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { Tracer } from '#kernel/trace'
import { refuseKey } from '#ops/engine/access'
import type { Bound, Operation } from '#ops/engine/bind'
import type { Call, Visit } from '#ops/engine/call'
import type { Addresses } from './addresses.ts'
import type { Streams } from './agent/streams.ts'
import type { HintStreams } from './app/hint-streams.ts'
import type { AuthenticatedCaller, Authenticator } from './auth.ts'
import { bytesResponse } from './bytes.ts'
import type { Cookies } from './cookies.ts'
import { wantsStream } from './event-streams.ts'
import { fileResponse, linesStream, nothing } from './file.ts'
import { headerText } from './header-text.ts'
import type { Incoming } from './incoming.ts'
import { inputOf } from './input.ts'
import type { Origins } from './origin.ts'
import { represent } from './represent.ts'
import { answerResponse, limitHeaders, requestIdOf } from './respond.ts'
import { tracedRequest } from './traced.ts'
import { surfaceOf } from './visit.ts'

export interface ServeDeps {
  authenticator: Authenticator
  cookies: Cookies
  origins: Origins
  addresses: Addresses
  streams: Pick<Streams, 'open'>
  hintStreams: Pick<HintStreams, 'open'>
  /** The slots for downloads of files. */
  fileSlots: Slots
  log: Log
  /** Undefined: there are no traces. */
  tracer?: Tracer | undefined
}

interface Started {
  o: NamedOp
  requestId: string
  startedAt: number
}

const logServed = (
  { log }: ServeDeps,
  { o, requestId, startedAt }: Started,
  { status, tenant }: { status: number; tenant?: string },
): void => {
  if (!log.isLevelEnabled('debug')) return
  log.debug(
    {
      operation: o.id,
      status,
      ms: performance.now() - startedAt,
      request_id: requestId,
      workspace: tenant,
    },
    'served',
  )
}

const answer = (deps: ServeDeps, o: Operation, incoming: Incoming): Promise<Response> =>
  asCaller(deps, o, incoming, async (call) => {
    const answer = await o.run(() => inputOf(o, incoming, call.tenantId), call)
    return represent(o, incoming.request, { answer, requestId: call.requestId })
  })

/**
 * The answer begins after the first record has been read, so that errors until then have their own
 * status.
 */
const stream = (deps: ServeDeps, o: Bound<'download'>, incoming: Incoming): Promise<Response> =>
  asCaller(deps, o, incoming, async (call) => {
    const { request } = incoming
    const download = await o.open(() => inputOf(o, incoming, call.tenantId), call)
    const file = { name: o.file, form: download.form, requestId: call.requestId }
    return request.method === 'HEAD'
      ? fileResponse(file, nothing())
      : fileResponse(file, linesStream(deps, await download.start(), file))
  })

const sendFile = (deps: ServeDeps, o: Bound<'file'>, incoming: Incoming): Promise<Response> =>
  asCaller(deps, o, incoming, async (call) => {
    const { file, allowances } = await o.fetch(() => inputOf(o, incoming, call.tenantId), call)
    const holder = { party: call.tenantId }
    const sending = {
      request: incoming.request,
      requestId: call.requestId,
      headers: limitHeaders(allowances),
    }
    return bytesResponse(file, { ...sending, holder, slots: deps.fileSlots, log: deps.log })
  })

/** An answer, or the stream that continues it. */
const read = (deps: ServeDeps, o: Bound<'query'>, incoming: Incoming): Promise<Response> => {
  if (!wantsStream(o, incoming.request)) return answer(deps, o, incoming)
  const streams = o.stream === 'hints' ? deps.hintStreams : deps.streams
  return asCaller(deps, o, incoming, (call) => streams.open({ o, incoming, call }))
}

/** What a caller asks for with this request. */
export const callOf = (
  { tenantId, principal, scopes, plan }: AuthenticatedCaller,
  request: Request,
): Call => ({
  tenantId,
  principal,
  scopes,
  plan,
  surface: surfaceOf(request),
  requestId: requestIdOf(request),
})

/** The job that a request is about, if its path names one. */
const askedOf = (
  o: NamedOp,
  { params }: Incoming,
  workspace: string,
): NonNullable<Incoming['asked']> => ({
  workspace,
  operation: o.id,
  ...(o.path.startsWith(JOBS) && params?.id ? { job: params.id } : {}),
})
const JOBS = '/api/v1/agent/jobs/:id'

const asCaller = async (
  deps: ServeDeps,
  o: NamedOp,
  incoming: Incoming,
  run: (call: Call) => Promise<Response>,
): Promise<Response> => {
  const { request } = incoming
  const requestId = requestIdOf(request)
  const startedAt = performance.now()
  const known = deps.authenticator.authenticate(incoming)
  const caller = known instanceof Promise ? await known : known
  incoming.asked = askedOf(o, incoming, caller.tenantId)
  try {
    const idempotencyKey = readsOnly(o) ? undefined : headerText(request, 'idempotency-key')
    const response = await run({ ...callOf(caller, request), requestId, idempotencyKey })
    logServed(
      deps,
      { o, requestId, startedAt },
      { status: response.status, tenant: caller.tenantId },
    )
    return response
  } catch (cause) {
    await reconsider(deps, incoming, { caller, cause })
    throw cause
  }
}

/**
 * A refusal may only mean that the credential has changed since it was looked up: a key was
 * revoked, or a session is in another workspace. Rejects with what is true now.
 */
const reconsider = async (
  { authenticator }: ServeDeps,
  incoming: Incoming,
  { caller, cause }: { caller: AuthenticatedCaller; cause: unknown },
): Promise<void> => {
  if (!(cause instanceof AppError) || cause.status >= 500 || cause.code === 'rate_limited') return
  if (!caller.session) return authenticator.confirm(caller)
  if (cause.code === 'unauthenticated') await authenticator.authenticate(incoming)
}

/** Serves an operation that belongs to no workspace. */
const admit = async (
  deps: ServeDeps,
  o: Bound<'personal' | 'public'>,
  incoming: Incoming,
): Promise<Response> => {
  const { request } = incoming
  const requestId = requestIdOf(request)
  const startedAt = performance.now()
  if (o.kind === 'public') {
    if (!isExempt(o, 'rates')) deps.addresses.count(incoming.address())
    incoming.countAsAnonymous()
  }
  // These operations set cookies. A foreign page must not be able to sign a browser in or out.
  if (!deps.origins.isOurs(request))
    throw new AppError('forbidden', 'pages of other origins cannot send this request')
  const visit = await visitOf(deps, o, incoming)
  const { cookies, ...answer } = await o.enter(
    () => inputOf(o, incoming, visit.session?.workspace.id),
    visit,
  )
  logServed(deps, { o, requestId, startedAt }, { status: answer.status })
  const response = answerResponse(answer, requestId)
  for (const cookie of cookies ? deps.cookies.setting(cookies) : [])
    response.headers.append('set-cookie', cookie)
  return response
}

/**
 * Throws `unauthenticated` if the operation needs a signed-in person and there is none, and
 * `forbidden` for an API key.
 */
export const visitOf = async (
  { authenticator, cookies, origins }: ServeDeps,
  o: Pick<NamedOp, 'kind'>,
  incoming: Incoming,
): Promise<Visit> => {
  const { request } = incoming
  const visit = {
    surface: surfaceOf(request),
    requestId: requestIdOf(request),
    address: incoming.address(),
    userAgent: request.headers.get('user-agent'),
    isOwnPage: origins.isSurelyOurs(request),
    refreshToken: cookies.refresh(request),
    browser: cookies.browser(request),
  }
  if (o.kind === 'public') return visit
  const { session } = await authenticator.authenticate(incoming)
  return { ...visit, session: session ?? refuseKey() }
}

/** How each kind of operation is served. */
const serving: {
  [K in Kind]: (deps: ServeDeps, o: Bound<K>, incoming: Incoming) => Promise<Response>
} = {
  query: read,
  command: answer,
  awaited: answer,
  prepared: answer,
  personal: admit,
  public: admit,
  download: stream,
  file: sendFile,
}

/** Rejects with the operation's error. */
export const serve = (deps: ServeDeps, o: Bound, incoming: Incoming): Promise<Response> => {
  const respond = serving[o.kind] as (
    deps: ServeDeps,
    o: Bound,
    incoming: Incoming,
  ) => Promise<Response>
  const { tracer } = deps
  return tracer
    ? tracedRequest(tracer, o, incoming, () => respond(deps, o, incoming))
    : respond(deps, o, incoming)
}
