/** How every request is answered: within the limits of what it may cost, errors in one form, and with the headers that every answer has. */
import type { Context } from 'elysia'
import { systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { Addresses } from './addresses.ts'
import { Incoming } from './incoming.ts'
import { Intake, type IntakeLimits, intakeLimits } from './intake.ts'
import { errorResponse, protection, requestIdOf } from './respond.ts'
import { clientAddressOf, proxyWarning, type Trust } from './visit.ts'

export interface AnsweringDeps {
  trust: Trust
  addresses: Addresses
  /** Where people and programs reach this deployment. */
  publicUrl: string
  intake?: Partial<IntakeLimits>
  log: Log
}

export type Respond = (incoming: Incoming) => Response | Promise<Response>

/** What is hidden from whoever asks looks the same. */
export const NO_SUCH_PATH = 'no such path'

/** Where no credential is looked at, every request counts by its address: in its rate, and among its unfinished requests. */
export const anonymous =
  ({ addresses }: Pick<AnsweringDeps, 'addresses'>, respond: Respond): Respond =>
  (incoming) => {
    addresses.count(incoming.address())
    incoming.countAsStranger()
    return respond(incoming)
  }

/** Nobody reads the body of such a request, which Bun would keep until the answer. */
export const withoutBody =
  (respond: Respond): Respond =>
  (incoming) => {
    incoming.discard()
    return respond(incoming)
  }

export interface Answering {
  answer(context: Context, respond: Respond): Promise<Response>
  /** For what the framework itself refuses. */
  refuse(context: Pick<Context, 'request' | 'server'>, cause: unknown): Response
}

export const answering = (deps: AnsweringDeps): Answering => {
  const intake = new Intake({ limits: { ...intakeLimits, ...deps.intake }, clock: systemClock, log: deps.log })
  const everywhere = protection(deps.publicUrl)
  const heedProxy = proxyWarning(deps.trust, deps.log)
  const protect = (response: Response): Response => {
    for (const [name, value] of everywhere) response.headers.set(name, value)
    return response
  }
  const addressIn = ({ request, server }: Pick<Context, 'request' | 'server'>): string =>
    clientAddressOf(request, server?.requestIP(request)?.address, deps.trust)
  return {
    async answer(context, respond) {
      const { request, params } = context
      heedProxy(request)
      const incoming = new Incoming(request, params as Record<string, string> | undefined, intake, () => addressIn(context))
      const response = protect(await attempt(deps, incoming, respond))
      if (incoming.endsConnection) response.headers.set('connection', 'close')
      return response
    },
    refuse: (context, cause) => protect(failed(deps, { request: context.request, address: () => addressIn(context) }, cause)),
  }
}

const attempt = async (deps: AnsweringDeps, incoming: Incoming, respond: Respond): Promise<Response> => {
  try {
    return await respond(incoming)
  } catch (cause) {
    return failed(deps, incoming, cause)
  } finally {
    incoming.end()
  }
}

/** Whoever has no valid credential learns, beyond the rate of its address, when to come again instead of what was wrong. */
const counted = ({ addresses }: AnsweringDeps, address: () => string, error: AppError): AppError => {
  const isAnonymous = error.code === 'unauthenticated' || (error.code === 'not_found' && error.detail === NO_SUCH_PATH)
  try {
    if (isAnonymous) addresses.count(address())
    return error
  } catch (cause) {
    return AppError.from(cause)
  }
}

const failed = (deps: AnsweringDeps, incoming: Pick<Incoming, 'request' | 'address'>, cause: unknown): Response => {
  const { request } = incoming
  const requestId = requestIdOf(request)
  const error = counted(deps, () => incoming.address(), AppError.from(cause))
  if (error.status >= 500)
    deps.log.error({ err: error.cause ?? error, code: error.code, method: request.method, request_id: requestId }, 'a request failed')
  return errorResponse(error, requestId)
}
