/** Tokens of signed-in people: a short-lived JWT for requests, and one for a single refresh. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import type { DerivedKeys, SecretKeys } from '#kernel/secret-keys'

interface AccessClaims {
  sessionId: string
  personId: string
}

interface RefreshClaims {
  sessionId: string
  /** Counts the session's refreshes. */
  generation: number
}

/** A browser in which a person has signed in before. */
export interface KnownBrowser {
  id: string
  personId: string
  expiresAt: Date
  /** Whether its token was made under the newest secret key. */
  isUnderNewest: boolean
}

export interface Tokens {
  /** `expiresAt` is at most the session's own end. */
  access(claims: AccessClaims, expiresAt: Date): Promise<string>
  /**
   * Undefined unless it is a valid token of ours. Only the database knows whether the session is
   * still alive.
   */
  readAccess(token: string): Promise<AccessClaims | undefined>
  refresh(claims: RefreshClaims): string
  /** Undefined if we did not issue it. */
  readRefresh(token: string): RefreshClaims | undefined
  /**
   * A token for a browser to keep until `expiresAt`. It grants no access, but gives the browser a
   * count of password tries of its own.
   */
  browser(known: { personId: string; id?: string | undefined }, expiresAt: Date): string
  /** Undefined if we did not issue it, or if it has expired. */
  readBrowser(token: string): KnownBrowser | undefined
}

const ALGORITHM = 'HS256'
const ISSUER = 'tendril'
const AUDIENCE = 'tendril:app'
/**
 * Set in the header, so that no other JWT under this key can pass as an access token (RFC 9068).
 */
const TYPE = 'at+jwt'

const BROWSER_FORM = /^br_([0-9a-f-]{36})\.([0-9A-Za-z_-]{22})\.(\d{1,12})\.([0-9A-Za-z_-]{43})$/
const REFRESH_FORM = /^rt_([0-9a-f-]{36})\.(\d{1,9})\.([0-9A-Za-z_-]{43})$/

/** The only form of ids that the database accepts. */
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const isId = (claim: unknown): claim is string => typeof claim === 'string' && ID.test(claim)

const isSame = (mac: string, expected: Buffer): boolean => {
  const given = Buffer.from(mac, 'base64url')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const accessTokens = (keys: DerivedKeys): Pick<Tokens, 'access' | 'readAccess'> => ({
  access: ({ sessionId, personId }, expiresAt) =>
    new SignJWT({ sid: sessionId })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject(personId)
      .setIssuedAt()
      .setExpirationTime(expiresAt)
      .sign(keys.newest()),
  async readAccess(token) {
    const requiredClaims = ['sub', 'exp', 'sid']
    const rules = {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      typ: TYPE,
      requiredClaims,
    }
    for (const key of keys.accepted()) {
      const verified = await jwtVerify(token, key, rules).catch(() => undefined)
      const { sub, sid } = verified?.payload ?? {}
      if (isId(sub) && isId(sid)) return { personId: sub, sessionId: sid }
    }
    return undefined
  },
})

/** Signs a text by its parts, and checks its own signatures. */
const macWith = (keys: DerivedKeys) => {
  const seal = (key: Buffer, text: string): Buffer =>
    createHmac('sha256', key).update(text).digest()
  const isUnder = (key: Buffer, mac: string, text: string) => isSame(mac, seal(key, text))
  return {
    sign: (text: string): string => `${text}.${seal(keys.newest(), text).toString('base64url')}`,
    isOf: (mac: string, text: string): boolean =>
      keys.accepted().some((key) => isUnder(key, mac, text)),
    isNewest: (mac: string, text: string): boolean => isUnder(keys.newest(), mac, text),
  }
}

const refreshTokens = (keys: DerivedKeys): Pick<Tokens, 'refresh' | 'readRefresh'> => {
  const { sign, isOf } = macWith(keys)
  return {
    refresh: ({ sessionId, generation }) => `rt_${sign(`${sessionId}.${generation}`)}`,
    readRefresh(token) {
      const [, sessionId, generation, mac] = REFRESH_FORM.exec(token) ?? []
      if (sessionId === undefined) return undefined
      const claims = { sessionId, generation: Number(generation) }
      return isOf(mac!, `${sessionId}.${claims.generation}`) ? claims : undefined
    },
  }
}

const browserTokens = (keys: DerivedKeys): Pick<Tokens, 'browser' | 'readBrowser'> => {
  const { sign, isOf, isNewest } = macWith(keys)
  return {
    browser: ({ personId, id = randomBytes(16).toString('base64url') }, expiresAt) =>
      `br_${sign(`${personId}.${id}.${Math.floor(expiresAt.getTime() / 1_000)}`)}`,
    readBrowser(token) {
      const [, personId, id, until, mac] = BROWSER_FORM.exec(token) ?? []
      if (personId === undefined || Number(until) * 1_000 < Date.now()) return undefined
      const text = `${personId}.${id}.${until}`
      if (!isOf(mac!, text)) return undefined
      const expiresAt = new Date(Number(until) * 1_000)
      return { personId, id: id!, expiresAt, isUnderNewest: isNewest(mac!, text) }
    },
  }
}

/**
 * Derives the keys from the deployment's secret, so that every process accepts tokens issued by
 * another. Tokens are made under the newest, and accepted under all that are accepted.
 */
export const createTokens = (keys: SecretKeys): Tokens => ({
  ...accessTokens(keys.derived('access tokens')),
  ...refreshTokens(keys.derived('refresh tokens')),
  ...browserTokens(keys.derived('known browsers')),
})
