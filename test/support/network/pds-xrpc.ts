/** Requests of methods by name, as the fake PDS takes them apart. */
import type { IncomingMessage } from 'node:http'
import type { PdsCheck } from './pds-check.ts'
import { jsonAnswer, type PdsAnswer } from './pds-faults.ts'
import type { PdsLimits } from './pds-limits.ts'
import { claimsFor, invalidRequest, isProved, noAppView, type XrpcMethod } from './pds-methods.ts'
import { type PdsClaims, type PdsWorld, XrpcError } from './pds-world.ts'

export interface XrpcAnswering {
  world: PdsWorld
  /** The server's own. */
  url: string
  methods: Record<string, XrpcMethod>
  /** Undefined: there are none. */
  limits: PdsLimits | undefined
}

type Headers = IncomingMessage['headers']

const bodyGiven = (check: PdsCheck | undefined, headers: Headers, body: string): unknown => {
  const type = headers['content-type']
  if (!check) {
    if (body === '') return {}
    throw invalidRequest('A request body was provided when none was expected')
  }
  if (type === undefined)
    throw invalidRequest('Request encoding (Content-Type) required but not provided')
  if (!type.startsWith('application/json'))
    throw invalidRequest(`Wrong request encoding (Content-Type): ${type}`)
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new XrpcError(400, 'SyntaxError', (cause as Error).message)
  }
}

const paramsOf = (name: string, check: PdsCheck, query: URLSearchParams): unknown => {
  const input = Object.fromEntries(query)
  const wrong = check(input, '$')
  // Where in a query it is, a PDS does not say.
  if (wrong) throw invalidRequest(`Invalid ${name} params: ${wrong.replace(/ at \$\S*$/, '')}`)
  return input
}

/** The limits that a request has used so far. */
type Used = ReturnType<PdsLimits['request']>

const spend = (used: Used, limits: PdsLimits, more: Used): void => {
  used.push(...more)
  if (limits.isOver(used)) throw new XrpcError(429, 'RateLimitExceeded', 'Rate Limit Exceeded')
}

const NOBODY: PdsClaims = { scope: '', aud: '', sub: '', iat: 0, exp: 0 }

const run = (
  { world, url, methods, limits }: XrpcAnswering,
  name: string,
  incoming: IncomingMessage,
  body: string,
  used: Used,
): unknown => {
  const { method: verb, headers, url: asked } = incoming
  if (limits) spend(used, limits, limits.request(world.now()))
  const method = methods[name]
  if (!method) {
    claimsFor(world, 'access', incoming)
    throw noAppView()
  }
  if (verb !== method.verb)
    throw invalidRequest(`Incorrect HTTP method (${verb}) expected ${method.verb}`)
  const query = new URL(asked!, url).searchParams
  const claims = method.auth ? claimsFor(world, method.auth, incoming) : NOBODY
  if (limits) spend(used, limits, limits.write(name, claims.sub, world.now()))
  let input: unknown = {}
  if (method.verb === 'POST') {
    input = bodyGiven(method.input, headers, body)
    const wrong = method.input?.(input, '$')
    if (wrong) throw invalidRequest(wrong)
  } else if (method.input) input = paramsOf(name, method.input, query)
  const { identifier } = input as Record<string, string>
  if (limits && identifier) spend(used, limits, limits.login(identifier, world.now()))
  return method.run({
    world,
    url,
    method: name,
    input: input as Record<string, unknown>,
    query,
    claims,
    // Methods without `auth` never look at it.
    caller: world.accounts.get(claims.sub)!,
  })
}

const answerOf = (run: () => unknown): PdsAnswer => {
  try {
    const value = run()
    if (value === undefined) return { status: 200, headers: {}, body: '' }
    return jsonAnswer(200, value)
  } catch (cause) {
    if (!(cause instanceof XrpcError)) throw cause
    return jsonAnswer(cause.status, { error: cause.code, message: cause.message })
  }
}

export const xrpc = (
  answering: XrpcAnswering,
  name: string,
  incoming: IncomingMessage,
  body: string,
): PdsAnswer => {
  const used: Used = []
  const answer = answerOf(() => run(answering, name, incoming, body, used))
  Object.assign(answer.headers, answering.limits?.headers(used, answering.world.now()))
  return isProved(incoming) ? answering.world.oauth.withNonce(answer) : answer
}
