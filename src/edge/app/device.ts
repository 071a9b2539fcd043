/**
 * OAuth's endpoints for devices: RFC 8628 (device authorization), RFC 6749 (errors) and RFC 7009
 * (revocation). They are not operations, because they take forms and return OAuth's errors.
 */
import { deviceScopes, GRANT_S, isDeviceClient, POLL_EVERY_S } from '#domain/app/device'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { authorizeDevice, revokeToken, tokenForDevice } from '#ops/app/device'
import type { Identity, VisitContext } from '#ops/engine/call'
import type { Db } from '#store/engine/db'
import type { Incoming } from '../incoming.ts'
import { requestIdOf } from '../respond.ts'
import { type Form, FormError, type Route, readForm } from '../route.ts'
import { surfaceOf } from '../visit.ts'

export interface DeviceDeps {
  db: Db
  identity: Identity
  log: Log
}

type ErrorName =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
  | 'temporarily_unavailable'
  | 'server_error'

class OAuthError extends Error {
  override readonly name = 'OAuthError'
  constructor(
    readonly error: ErrorName,
    readonly description: string,
    readonly status = 400,
    readonly retryAfter?: number,
  ) {
    super(description)
  }
}

const refuse = (error: ErrorName, description: string): never => {
  throw new OAuthError(error, description)
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'
/** In characters; longer than any of our tokens. */
const LONGEST_FIELD = 2_000

const requireField = (form: Form, name: string): string => {
  const value = form[name] ?? refuse('invalid_request', `${name} is required`)
  return value.length <= LONGEST_FIELD ? value : refuse('invalid_request', `${name} is too long`)
}

const clientOf = (form: Form): string => {
  const client = requireField(form, 'client_id')
  return isDeviceClient(client) ? client : refuse('invalid_client', 'client_id is unknown')
}

type Endpoint = (form: Form, context: VisitContext) => Promise<object | undefined>

const code: Endpoint = async (form, context) => {
  const clientId = clientOf(form)
  const scopes =
    deviceScopes(form.scope ?? '') ??
    refuse('invalid_scope', 'scope must be api:read, api:write and mcp:use, or session alone')
  const { deviceCode, userCode } = await authorizeDevice(context, {
    clientId,
    scopes,
    name: (form.device_name ?? '').slice(0, LONGEST_FIELD),
  })
  const uri = `${context.identity.publicUrl}/device`
  const uris = { verification_uri: uri, verification_uri_complete: `${uri}?code=${userCode}` }
  return {
    device_code: deviceCode,
    user_code: userCode,
    ...uris,
    expires_in: GRANT_S,
    interval: POLL_EVERY_S,
  }
}

const refusals = {
  unknown: { error: 'invalid_grant', says: 'this client has no such device_code' },
  spent: { error: 'invalid_grant', says: 'the token for this device_code has already been issued' },
  expired: { error: 'expired_token', says: 'nobody decided in time: start again' },
  denied: { error: 'access_denied', says: 'the request was denied' },
  waiting: { error: 'authorization_pending', says: 'nobody has decided yet' },
  too_soon: {
    error: 'slow_down',
    says: 'poll less often: wait 5 seconds longer between requests from now on',
  },
} as const satisfies Record<string, { error: ErrorName; says: string }>

const token: Endpoint = async (form, context) => {
  const type = requireField(form, 'grant_type')
  if (type !== GRANT_TYPE) refuse('unsupported_grant_type', `grant_type must be ${GRANT_TYPE}`)
  const granted = await tokenForDevice(context, {
    clientId: clientOf(form),
    deviceCode: requireField(form, 'device_code'),
  })
  if (typeof granted === 'string') return refuse(refusals[granted].error, refusals[granted].says)
  const { accessToken, scopes, workspace, expiresInS } = granted
  const lasts = expiresInS === undefined ? {} : { expires_in: expiresInS }
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    ...lasts,
    scope: scopes.join(' '),
    workspace,
  }
}

/** Also succeeds for unknown and ended tokens (RFC 7009, 2.2). */
const revoke: Endpoint = async (form, context) => {
  const token = requireField(form, 'token')
  if (form.client_id !== undefined) clientOf(form)
  await revokeToken(context, token)
  return undefined
}

const headersFor = (requestId: string) => ({
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-request-id': requestId,
})

const asOAuth = (cause: unknown): OAuthError => {
  if (cause instanceof OAuthError) return cause
  if (cause instanceof FormError) return new OAuthError('invalid_request', cause.message)
  const { code: kind, message, status, retryAfter } = AppError.from(cause)
  if (kind === 'rate_limited' || kind === 'unavailable')
    return new OAuthError('temporarily_unavailable', message, status, retryAfter)
  return status < 500
    ? new OAuthError('invalid_request', message, status)
    : new OAuthError('server_error', message, 500)
}

/** OAuth allows only printable ASCII without quotation mark and backslash (RFC 6749, 5.2). */
const printable = (text: string): string => text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')

const errorResponse = ({ log }: DeviceDeps, cause: unknown, requestId: string): Response => {
  const { error, description, status, retryAfter } = asOAuth(cause)
  if (status >= 500) log.error({ err: cause, request_id: requestId }, 'a device request failed')
  const headers = {
    ...headersFor(requestId),
    ...(retryAfter === undefined
      ? {}
      : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
  }
  return new Response(JSON.stringify({ error, error_description: printable(description) }), {
    status,
    headers,
  })
}

const respond =
  (deps: DeviceDeps, endpoint: Endpoint) =>
  async (incoming: Incoming): Promise<Response> => {
    const { request } = incoming
    const requestId = requestIdOf(request)
    try {
      const visit = {
        surface: surfaceOf(request),
        requestId,
        address: incoming.address(),
        userAgent: request.headers.get('user-agent')?.slice(0, 300) ?? null,
      }
      const body = await endpoint(await readForm(incoming), {
        db: deps.db,
        identity: deps.identity,
        visit,
      })
      return new Response(body && JSON.stringify(body), {
        status: 200,
        headers: headersFor(requestId),
      })
    } catch (cause) {
      return errorResponse(deps, cause, requestId)
    }
  }

export const deviceRoutes = (deps: DeviceDeps): Route[] => [
  { method: 'POST', path: '/api/v1/app/device/code', respond: respond(deps, code) },
  { method: 'POST', path: '/api/v1/app/device/token', respond: respond(deps, token) },
  { method: 'POST', path: '/api/v1/app/device/revoke', respond: respond(deps, revoke) },
]
