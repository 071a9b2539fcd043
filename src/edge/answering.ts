/**
 * Answers every request. Limits its cost, gives all errors the same form, and adds the headers that
 * every answer has.
 */
import { systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { Addresses } from './addresses.ts'
import { Incoming } from './incoming.ts'
import { Intake, type IntakeLimits, intakeLimits } from './intake.ts'
import { errorResponse, requestIdOf, securityHeaders } from './respond.ts'
import { clientAddressOf, type ProxyTrust, proxyWarning } from './visit.ts'

export interface AnsweringDeps {
  trust: ProxyTrust
  addresses: Addresses
  publicUrl: string
  intake?: Partial<IntakeLimits>
  log: Log
  /** Counts answers, but not those to checks of health, by their status. Must not throw. */
  answered?: ((status: number) => void) | undefined
}

/** Their refusals say how the server is, not that a request failed. */
const CHECK = /^[^/]*\/\/[^/]*\/(health|ready)(\?|$)/

export type Respond = (incoming: Incoming) => Response | Promise<Response>

/** This is also the answer for paths that are hidden from the caller. */
export const NO_SUCH_PATH = 'no such path'

/**
 * For requests without a credential: counts them against the rate and the unfinished requests of
 * their address.
 */
export const anonymous =
  ({ addresses }: Pick<AnsweringDeps, 'addresses'>, respond: Respond): Respond =>
  (incoming) => {
    addresses.count(incoming.address())
    incoming.countAsAnonymous()
    return respond(incoming)
  }

/** Discards a body that nobody will read; Bun would keep it until the answer. */
export const withoutBody =
  (respond: Respond): Respond =>
  (incoming) => {
    incoming.discard()
    return respond(incoming)
  }

export interface Answering {
  /** `params`: the decoded parameters of the path. */
  answer(
    request: Request,
    params: Record<string, string> | undefined,
    respond: Respond,
  ): Promise<Response>
  /** Answers a request that the framework itself refuses. */
  refuse(request: Request, cause: unknown): Response
}

/** `peerOf`: the address at the other end of a request's connection. */
export const answering = (
  deps: AnsweringDeps,
  peerOf: (request: Request) => string | undefined,
): Answering => {
  const intake = new Intake({
    limits: { ...intakeLimits, ...deps.intake },
    clock: systemClock,
    log: deps.log,
  })
  const security = securityHeaders(deps.publicUrl)
  const warnOfProxy = proxyWarning(deps.trust, deps.log)
  const withSecurity = (response: Response): Response => {
    for (const [name, value] of security) response.headers.set(name, value)
    return response
  }
  const addressOf = (request: Request): string =>
    clientAddressOf(request, peerOf(request), deps.trust)
  return {
    async answer(request, params, respond) {
      warnOfProxy(request, peerOf(request))
      const incoming = new Incoming(request, params, intake, addressOf)
      let response: Response
      try {
        response = await respond(incoming)
      } catch (cause) {
        response = answerError(deps, incoming, cause)
      } finally {
        incoming.end()
      }
      if (deps.answered && !(response.status >= 500 && CHECK.test(request.url)))
        deps.answered(response.status)
      if (incoming.endsConnection) response.headers.set('connection', 'close')
      return withSecurity(response)
    },
    refuse: (request, cause) =>
      withSecurity(answerError(deps, { request, address: () => addressOf(request) }, cause)),
  }
}

/**
 * Counts an anonymous refusal. If the address is over its rate, the error becomes `rate_limited`.
 */
const countAnonymous = (
  { addresses }: AnsweringDeps,
  address: () => string,
  error: AppError,
): AppError => {
  const isAnonymous =
    error.code === 'unauthenticated' ||
    (error.code === 'not_found' && error.detail === NO_SUCH_PATH)
  try {
    if (isAnonymous) addresses.count(address())
    return error
  } catch (cause) {
    return AppError.from(cause)
  }
}

const answerError = (
  deps: AnsweringDeps,
  incoming: Pick<Incoming, 'request' | 'address'> & { asked?: Incoming['asked'] },
  cause: unknown,
): Response => {
  const { request } = incoming
  const requestId = requestIdOf(request)
  const error = countAnonymous(deps, () => incoming.address(), AppError.from(cause))
  if (error.status >= 500)
    deps.log.error(
      {
        err: error.cause ?? error,
        code: error.code,
        method: request.method,
        request_id: requestId,
        ...incoming.asked,
      },
      'a request failed',
    )
  return errorResponse(error, requestId)
}
