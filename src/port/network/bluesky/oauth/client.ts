/** As whom this deployment asks accounts for access. */
import { calculateJwkThumbprint, importJWK, SignJWT } from 'jose'
import type { OwnKey } from '../credentials.ts'
import { ALGORITHM, publicPart } from './dpop.ts'

/** What we ask for: to be told whose account it is, and what an app password could do. */
export const OAUTH_SCOPE = 'atproto transition:generic'

const METADATA_PATH = '/connections/bluesky/client-metadata.json'
const KEY_SET_PATH = '/connections/bluesky/jwks.json'
const CALLBACK_PATH = '/connections/callback'
export const oauthPaths = {
  metadata: METADATA_PATH,
  keySet: KEY_SET_PATH,
  callback: CALLBACK_PATH,
} as const

export interface OauthParty {
  /**
   * `confidential`: signs what it asks for. `loopback`: for a server on this machine, which nobody
   * outside can ask who it is; its sessions last two weeks at most.
   */
  kind: 'confidential' | 'loopback'
  id: string
  redirectUrl: string
}

export interface OauthClient {
  /** Undefined where the protocol allows none: at a plain http address that is not this machine. */
  party: OauthParty | undefined
  /** The fields by which a request says, and proves, who makes it. */
  identify(clientId: string, issuer: string): Promise<Record<string, string>>
  metadata(): object
  keySet(): Promise<object>
}

const LOCAL = ['localhost', '127.0.0.1', '[::1]']
const LOOPBACK_ID = 'http://localhost'

const partyOf = (publicUrl: string): OauthParty | undefined => {
  const url = new URL(publicUrl)
  if (url.protocol === 'https:')
    return {
      kind: 'confidential',
      id: publicUrl + METADATA_PATH,
      redirectUrl: publicUrl + CALLBACK_PATH,
    }
  if (!LOCAL.includes(url.hostname)) return undefined
  // Servers refuse a name there: only the address is sure to be this machine.
  const redirectUrl = `${publicUrl.replace(url.host, url.host.replace(url.hostname, '127.0.0.1'))}${CALLBACK_PATH}`
  const about = new URLSearchParams({ redirect_uri: redirectUrl, scope: OAUTH_SCOPE })
  return { kind: 'loopback', id: `${LOOPBACK_ID}?${about}`, redirectUrl }
}

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const ASSERTION_LIFE = '60s'

const assertionOf = async (
  key: OwnKey,
  { clientId, issuer }: { clientId: string; issuer: string },
): Promise<string> =>
  new SignJWT({})
    .setProtectedHeader({ alg: ALGORITHM, kid: await calculateJwkThumbprint(publicPart(key)) })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(issuer)
    .setJti(crypto.randomUUID())
    .setIssuedAt()
    .setExpirationTime(ASSERTION_LIFE)
    .sign(await importJWK(key, ALGORITHM))

interface ClientParts {
  /** Of this deployment. */
  publicUrl: string
  /** The one key of the deployment, which is made when it is first needed. */
  key(): Promise<OwnKey>
}

export const createOauthClient = ({ publicUrl, key }: ClientParts): OauthClient => ({
  party: partyOf(publicUrl),
  async identify(clientId, issuer): Promise<Record<string, string>> {
    // A session goes on as whoever began it, wherever this deployment is now.
    if (clientId.startsWith(`${LOOPBACK_ID}?`)) return { client_id: clientId }
    return {
      client_id: clientId,
      client_assertion_type: ASSERTION,
      client_assertion: await assertionOf(await key(), { clientId, issuer }),
    }
  },
  metadata: () => ({
    client_id: publicUrl + METADATA_PATH,
    client_name: 'Tendril',
    client_uri: publicUrl,
    application_type: 'web',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    redirect_uris: [publicUrl + CALLBACK_PATH],
    scope: OAUTH_SCOPE,
    dpop_bound_access_tokens: true,
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: ALGORITHM,
    jwks_uri: publicUrl + KEY_SET_PATH,
  }),
  async keySet() {
    const jwk = publicPart(await key())
    const kid = await calculateJwkThumbprint(jwk)
    return { keys: [{ ...jwk, kid, alg: ALGORITHM, use: 'sig' }] }
  },
})
