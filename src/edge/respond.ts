/** The forms of HTTP answers. */
import type { Answer } from '#actors/engine/letter'
import type { Allowance } from '#kernel/allowance'
import type { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'

export const JSON_TYPE = 'application/json; charset=utf-8'
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

const requestIds = new WeakMap<Request, string>()

/**
 * The caller's X-Request-Id if it is valid, otherwise a new one. Always the same for the same
 * request.
 */
export const requestIdOf = (request: Request): string => {
  const known = requestIds.get(request)
  if (known) return known
  const sent = request.headers.get('x-request-id')
  const id = sent && REQUEST_ID.test(sent) ? sent : newId()
  requestIds.set(request, id)
  return id
}

export const answerResponse = (
  { status, body, replayed, allowances }: Answer,
  requestId: string,
): Response => {
  const headers: Record<string, string> = {
    'content-type': JSON_TYPE,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    ...limitHeaders(allowances),
  }
  if (replayed) headers['idempotency-replayed'] = 'true'
  return new Response(body, { status, headers })
}

/** Answers in formats that others have defined. */
export const textResponse = (
  body: string,
  contentType: string,
  requestId: string,
  status = 200,
): Response =>
  new Response(body, {
    status,
    headers: {
      'content-type': contentType,
      'cache-control': 'no-store',
      'x-request-id': requestId,
    },
  })

export const errorResponse = (
  error: AppError,
  requestId: string,
  extra: Record<string, string> = {},
): Response => {
  const headers: Record<string, string> = {
    'content-type': JSON_TYPE,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    ...extra,
  }
  Object.assign(headers, limitHeaders(error.allowances))
  if (error.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer'
  if (error.code === 'missing_scope')
    headers['www-authenticate'] = `Bearer error="insufficient_scope", scope="${error.detail}"`
  if (error.retryAfter !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfter)))
  return new Response(errorBody(error, requestId), { status: error.status, headers })
}

/** The headers of draft-ietf-httpapi-ratelimit-headers: lists with one item per limit. */
export const limitHeaders = (allowances: Allowance[] = []): Record<string, string> => {
  if (allowances.length === 0) return {}
  const list = (item: (one: Allowance) => string) =>
    allowances.map((one) => `"${one.name}";${item(one)}`).join(', ')
  return {
    'ratelimit-policy': list(({ limit, window }) => `q=${limit};w=${window}`),
    ratelimit: list(({ left, resetsIn }) => `r=${left};t=${resetsIn}`),
  }
}

/** JSON on one line. */
export const errorBody = (
  { code, message, conflict, details }: AppError,
  requestId: string,
): string =>
  JSON.stringify({
    error: { code, message, ...conflict, ...(details ? { details } : {}), request_id: requestId },
  })

/** Security headers for every answer: no content sniffing, and HSTS if the deployment has https. */
export const securityHeaders = (publicUrl: string): [string, string][] => [
  ['x-content-type-options', 'nosniff'],
  ...(publicUrl.startsWith('https:')
    ? ([['strict-transport-security', 'max-age=31536000']] as [string, string][])
    : []),
]
