/** What a Bluesky account is used with, and what its tokens say. */
import { asObject, type JsonObject, parseObject } from '#port/fields'

/** What a Bluesky account is used with, sealed as one text into its row. */
export type BlueskyCredentials = PasswordSession | OauthSession

/** A key pair of ours on the curve P-256, as a JSON Web Key. */
export interface OwnKey {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
  /** The private part. */
  d: string
}

/** A session that was begun on a page of the account's own server. */
export interface OauthSession {
  /** The authorization server. */
  issuer: string
  /** Where it is renewed. */
  tokenUrl: string
  /** Where it is ended; null if that cannot be done. */
  revokeUrl: string | null
  /** As whom we began it. */
  clientId: string
  pds: string
  did: string
  access: string
  /** Good for one renewal. */
  refresh: string
  /** The tokens are bound to this key: a request proves that it is ours. */
  key: OwnKey
  accessEndsAt: number
}

/** A session that was begun with an app password. */
export interface PasswordSession {
  /** Where the session was begun, and is renewed: the PDS or its entryway. */
  service: string
  /** Where the repository is, by the DID document. */
  pds: string
  did: string
  access: string
  refresh: string
  /** The app password, if it is kept. */
  password: string | null
  /** When `access` ends (ms since 1970), from the token. */
  accessEndsAt: number
  /** When the password last began a session without a person (ms since 1970). */
  begunAgainAt: number | null
}

export const isOauth = (credentials: BlueskyCredentials): credentials is OauthSession =>
  'issuer' in credentials

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const areTexts = (value: JsonObject, names: readonly string[]): boolean =>
  names.every((name) => isText(value[name]))

const SHARED = ['pds', 'did', 'access', 'refresh'] as const

const isPasswordSession = (value: JsonObject): boolean =>
  areTexts(value, ['service']) &&
  (value.password === null || isText(value.password)) &&
  (value.begunAgainAt == null || Number.isFinite(value.begunAgainAt))

const isOauthSession = (value: JsonObject): boolean =>
  areTexts(value, ['issuer', 'tokenUrl', 'clientId']) &&
  (value.revokeUrl === null || isText(value.revokeUrl)) &&
  isOwnKey(value.key)

export const isOwnKey = (value: unknown): value is OwnKey => {
  const key = asObject(value)
  return key.kty === 'EC' && key.crv === 'P-256' && areTexts(key, ['x', 'y', 'd'])
}

/** Throws if the text holds no such credentials; the error does not quote it. */
export const parseBlueskyCredentials = (text: string): BlueskyCredentials => {
  const value = parseObject(text)
  const isWhole = value && areTexts(value, SHARED) && Number.isFinite(value.accessEndsAt)
  if (isWhole && 'issuer' in value && isOauthSession(value)) return value as unknown as OauthSession
  if (isWhole && !('issuer' in value) && isPasswordSession(value))
    return { begunAgainAt: null, ...value } as unknown as PasswordSession
  throw new Error('these are no credentials of a Bluesky account')
}

/** What else an object may hold is left out. */
const written = (credentials: BlueskyCredentials): BlueskyCredentials => {
  const { pds, did, access, refresh, accessEndsAt } = credentials
  const shared = { pds, did, access, refresh, accessEndsAt }
  if (isOauth(credentials)) {
    const { issuer, tokenUrl, revokeUrl, clientId, key } = credentials
    return { ...shared, issuer, tokenUrl, revokeUrl, clientId, key }
  }
  const { service, password, begunAgainAt } = credentials
  return { ...shared, service, password, begunAgainAt }
}

export const stringifyBlueskyCredentials = (credentials: BlueskyCredentials): string =>
  JSON.stringify(written(credentials))

const TOKEN = /^[\x21-\x7e]{1,8192}$/
export const isToken = (value: unknown): value is string =>
  typeof value === 'string' && TOKEN.test(value)

/** The claims of a token, unverified. Empty if it has none that can be read. */
export const claimsIn = (token: string): JsonObject =>
  parseObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {}

/** For a token that does not say when it ends. */
const USUAL_LIFE_MS = 3_600_000
const LONGEST_LIFE_MS = 30 * 86_400_000

export const tokenEndsAt = (token: string, now: number): number => {
  const { exp } = claimsIn(token)
  const at = typeof exp === 'number' ? exp * 1_000 : Number.NaN
  return Number.isFinite(at) ? Math.min(at, now + LONGEST_LIFE_MS) : now + USUAL_LIFE_MS
}
