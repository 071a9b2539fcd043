/** What a Bluesky account is used with, and what its tokens say. */
import { type JsonObject, parseObject } from '#port/fields'

/** What a Bluesky account is used with, sealed as one text into its row. */
export interface BlueskyCredentials {
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

const TEXTS = ['service', 'pds', 'did', 'access', 'refresh'] as const

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const isWhole = (value: JsonObject): boolean =>
  TEXTS.every((name) => isText(value[name])) &&
  (value.password === null || isText(value.password)) &&
  Number.isFinite(value.accessEndsAt) &&
  (value.begunAgainAt == null || Number.isFinite(value.begunAgainAt))

/** Throws if the text holds no such credentials; the error does not quote it. */
export const parseBlueskyCredentials = (text: string): BlueskyCredentials => {
  const value = parseObject(text)
  if (!value || !isWhole(value)) throw new Error('these are no credentials of a Bluesky account')
  return { begunAgainAt: null, ...value } as unknown as BlueskyCredentials
}

export const stringifyBlueskyCredentials = ({
  service,
  pds,
  did,
  access,
  refresh,
  password,
  accessEndsAt,
  begunAgainAt,
}: BlueskyCredentials): string =>
  JSON.stringify({ service, pds, did, access, refresh, password, accessEndsAt, begunAgainAt })

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
