/** Tokens of signed-in people: a short-lived JWT for requests, and one for a single refresh. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { deriveKey } from '#kernel/secret'

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
}

export interface Tokens {
  /** `expiresAt` is at most the session's own end. */
  access(claims: AccessClaims, expiresAt: Date): Promise<string>
  /** Undefined unless it is a valid token of ours. Whether the session is still alive, only the database knows. */
  readAccess(token: string): Promise<AccessClaims | undefined>
  refresh(claims: RefreshClaims): string
  /** Undefined if we did not issue it. */
  readRefresh(token: string): RefreshClaims | undefined
  /** A token for a browser to keep until `expiresAt`. It grants no access; it gives the browser a count of password tries of its own. */
  browser(known: { personId: string; id?: string | undefined }, expiresAt: Date): string
  /** Undefined if we did not issue it, or it expired. */
  readBrowser(token: string): KnownBrowser | undefined
}

const ALGORITHM = 'HS256'
const ISSUER = 'tendril'
const AUDIENCE = 'tendril:app'
/** In the header, so that no other JWT under this key can pass as an access token (RFC 9068). */
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

/** Derives the keys from the deployment's secret, so every process accepts tokens that another issued. */
export const createTokens = (secret: Buffer): Tokens => {
  const accessKey = deriveKey(secret, 'access tokens')
  const refreshKey = deriveKey(secret, 'refresh tokens')
  const browserKey = deriveKey(secret, 'known browsers')
  const sealBrowser = (text: string): Buffer => createHmac('sha256', browserKey).update(text).digest()
  const seal = ({ sessionId, generation }: RefreshClaims): Buffer =>
    createHmac('sha256', refreshKey).update(`${sessionId}.${generation}`).digest()
  return {
    access: ({ sessionId, personId }, expiresAt) =>
      new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(personId)
        .setIssuedAt()
        .setExpirationTime(expiresAt)
        .sign(accessKey),
    async readAccess(token) {
      const rules = { algorithms: [ALGORITHM], issuer: ISSUER, audience: AUDIENCE, typ: TYPE, requiredClaims: ['sub', 'exp', 'sid'] }
      const verified = await jwtVerify(token, accessKey, rules).catch(() => undefined)
      const { sub, sid } = verified?.payload ?? {}
      return isId(sub) && isId(sid) ? { personId: sub, sessionId: sid } : undefined
    },
    refresh: (claims) => `rt_${claims.sessionId}.${claims.generation}.${seal(claims).toString('base64url')}`,
    readRefresh(token) {
      const [, sessionId, generation, mac] = REFRESH_FORM.exec(token) ?? []
      if (sessionId === undefined) return undefined
      const claims = { sessionId, generation: Number(generation) }
      return isSame(mac!, seal(claims)) ? claims : undefined
    },
    browser({ personId, id = randomBytes(16).toString('base64url') }, expiresAt) {
      const text = `${personId}.${id}.${Math.floor(expiresAt.getTime() / 1_000)}`
      return `br_${text}.${sealBrowser(text).toString('base64url')}`
    },
    readBrowser(token) {
      const [, personId, id, until, mac] = BROWSER_FORM.exec(token) ?? []
      if (personId === undefined || Number(until) * 1_000 < Date.now()) return undefined
      return isSame(mac!, sealBrowser(`${personId}.${id}.${until}`)) ? { personId, id: id! } : undefined
    },
  }
}
