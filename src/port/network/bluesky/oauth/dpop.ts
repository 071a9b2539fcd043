/**
 * Requests with proof that a token is used by the one to whom it was given (DPoP, RFC 9449). A
 * server may ask that the proof holds a number of its own, which changes every few minutes.
 */
import { createHash } from 'node:crypto'
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Called } from '#port/egress/call'
import type { Egress } from '#port/egress/egress'
import { parseObject } from '#port/fields'
import { isOwnKey, type OwnKey } from '../credentials.ts'
import { type SentOnce, sendOnce } from '../request.ts'

export const ALGORITHM = 'ES256'

export const newOwnKey = async (): Promise<OwnKey> => {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
  const { kty, crv, x, y, d } = await exportJWK(privateKey)
  const key = { kty, crv, x, y, d }
  if (!isOwnKey(key)) throw new Error('the key that was made is of another kind')
  return key
}

export const publicPart = ({ kty, crv, x, y }: OwnKey) => ({ kty, crv, x, y })

const MOST_SERVERS = 1_000
const NONCE = /^[\x21-\x7e]{1,300}$/
/** The last number of each server, by its origin. Without it, a request is asked for it once. */
const nonces = new LRUCache<string, string>({ max: MOST_SERVERS })

interface Proving {
  key: OwnKey
  /** The token that the request is made with; undefined where none is needed yet. */
  access?: string
  sent: SentOnce
}

const proofOf = async (
  { key, access, sent: { url, method } }: Proving,
  nonce: string | undefined,
): Promise<string> => {
  const { origin, pathname } = new URL(url)
  const ath = access && createHash('sha256').update(access).digest('base64url')
  return new SignJWT({
    htm: method,
    htu: origin + pathname,
    ...(nonce === undefined ? {} : { nonce }),
    ...(ath === undefined ? {} : { ath }),
  })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'dpop+jwt', jwk: publicPart(key) })
    .setJti(crypto.randomUUID())
    .setIssuedAt()
    .sign(await importJWK(key, ALGORITHM))
}

const USE_NONCE = 'use_dpop_nonce'

/** Whether the server refused a request for want of its number: nothing was done then. */
const isAskedForNonce = (called: Called): boolean => {
  if (called.kind !== 'answered' || ![400, 401].includes(called.status)) return false
  const challenge = called.headers['www-authenticate']
  return (
    (typeof challenge === 'string' && challenge.includes(`error="${USE_NONCE}"`)) ||
    (called.isComplete && parseObject(called.body)?.error === USE_NONCE)
  )
}

/** The number that an answer tells. */
const nonceIn = (called: Called): string | undefined => {
  const told = called.kind === 'answered' ? called.headers['dpop-nonce'] : undefined
  return typeof told === 'string' && NONCE.test(told) ? told : undefined
}

/** Sends once more if the server asks for another number. Never throws. */
export const sendProved = async (
  egress: Egress,
  proving: Proving,
  signal: AbortSignal,
): Promise<Called> => {
  const { access, sent } = proving
  const { origin } = new URL(sent.url)
  const once = async (nonce: string | undefined): Promise<Called> => {
    const headers = {
      ...sent.headers,
      ...(access === undefined ? {} : { authorization: `DPoP ${access}` }),
      dpop: await proofOf(proving, nonce),
    }
    const called = await sendOnce(egress, { ...sent, headers }, signal)
    const told = nonceIn(called)
    if (told !== undefined) nonces.set(origin, told)
    return called
  }
  const used = nonces.get(origin)
  const first = await once(used)
  const told = nonceIn(first)
  return told !== undefined && told !== used && isAskedForNonce(first) ? once(told) : first
}
