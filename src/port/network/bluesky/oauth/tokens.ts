/** The token endpoint of an authorization server: tokens are had, renewed and revoked there. */
import type { Egress } from '#port/egress/egress'
import type { JsonObject } from '#port/fields'
import { isToken, type OauthSession, type OwnKey } from '../credentials.ts'
import { isDid } from '../refs.ts'
import { readAnswer, type XrpcAnswer, type XrpcFailure } from '../xrpc.ts'
import type { OauthClient } from './client.ts'
import { sendProved } from './dpop.ts'

interface Asked {
  url: string
  issuer: string
  clientId: string
  key: OwnKey
  fields: Record<string, string>
}

/**
 * A form to an authorization server, as the client that we are. Throws only if our own key cannot
 * be had.
 */
export const askAuthServer = async (
  { egress, client }: { egress: Egress; client: OauthClient },
  { url, issuer, clientId, key, fields }: Asked,
  signal: AbortSignal,
): Promise<XrpcAnswer> => {
  const form = { ...fields, ...(await client.identify(clientId, issuer)) }
  const sent = {
    url,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  } as const
  return readAnswer(await sendProved(egress, { key, sent }, signal), CREATED)
}

/** A request that was announced is answered so, and everything else with 200. */
const CREATED = [200, 201]

/** The session, or the code for it, is over for good. */
export const INVALID_GRANT = 'invalid_grant'

/** The error of a complete refusal; undefined for anything else. */
export const oauthErrorIn = (answer: XrpcFailure): string | undefined => {
  if (answer.kind !== 'failed' || !answer.isComplete) return undefined
  return answer.status === 400 || answer.status === 401 ? answer.error?.name : undefined
}

interface Issued {
  did: string
  access: string
  refresh: string
  scopes: string[]
  accessEndsAt: number
}

const USUAL_LIFE_S = 300
const LONGEST_LIFE_S = 86_400

/** Undefined if these are no tokens that we can use. */
export const tokensIn = (value: JsonObject, now: number): Issued | undefined => {
  const { sub, access_token: access, refresh_token: refresh, token_type, scope, expires_in } = value
  const isBound = typeof token_type === 'string' && token_type.toLowerCase() === 'dpop'
  if (!isBound || !isDid(sub) || !isToken(access) || !isToken(refresh)) return undefined
  const lifeS = typeof expires_in === 'number' && expires_in > 0 ? expires_in : USUAL_LIFE_S
  return {
    did: sub,
    access,
    refresh,
    scopes: typeof scope === 'string' ? scope.split(' ') : [],
    accessEndsAt: now + Math.min(lifeS, LONGEST_LIFE_S) * 1_000,
  }
}

/** Ends a session. Some servers revoke it by any of its tokens, and all by this one. */
export const revokeTokens = async (
  parts: { egress: Egress; client: OauthClient },
  { revokeUrl: url, issuer, clientId, key, refresh: token }: OauthSession,
  signal: AbortSignal,
): Promise<XrpcAnswer> =>
  url === null
    ? { kind: 'ok', value: {} }
    : askAuthServer(
        parts,
        { url, issuer, clientId, key, fields: { token, token_type_hint: 'refresh_token' } },
        signal,
      )
