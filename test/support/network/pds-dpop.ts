/** Proofs of DPoP as a PDS checks them, and the numbers that it wants in them. */
import { createHash, createPublicKey, verify } from 'node:crypto'

/** A refusal in the form of OAuth. */
export class OauthError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string = code,
  ) {
    super(message)
  }
}

/** The public part of a key, as JSON. */
export interface KeyToCheck {
  [name: string]: unknown
}

interface SignedParts {
  // biome-ignore lint/suspicious/noExplicitAny: what clients send
  header: any
  // biome-ignore lint/suspicious/noExplicitAny: what clients send
  claims: any
}

const jsonOf = (part = ''): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())

const thumbprintOf = ({ crv, kty, x, y }: KeyToCheck): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')

/** Throws unless the key, or the one in the header, has signed it by ES256. */
export const verifiedParts = (token: string, key?: KeyToCheck): SignedParts => {
  const [head, body, signature = ''] = token.split('.')
  const [header, claims] = [jsonOf(head), jsonOf(body)] as [SignedParts['header'], unknown]
  const format = 'jwk' as const
  const by = createPublicKey({ key: (key ?? header.jwk) as never, format })
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${body}`),
    { key: by, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  if (!isSigned || header.alg !== 'ES256') throw new Error('the signature is wrong')
  return { header, claims }
}

export interface ProvedRequest {
  method: string
  /** Without a query. */
  url: string
  proof: string | undefined
  /** The access token that it is for. */
  access?: string
}

const LIFE_S = 190

export class DpopChecks {
  private readonly seen = new Set<string>()
  private count = 0
  /** Changes as often as a test says. */
  nonce = 'nonce-0'

  renewNonce(): void {
    this.nonce = `nonce-${++this.count}`
  }

  /** The thumbprint of the key that has signed the proof. */
  check({ method, url, proof, access }: ProvedRequest): string {
    if (!proof) throw new OauthError(400, 'invalid_dpop_proof', 'DPoP proof required')
    let parts: SignedParts
    try {
      parts = verifiedParts(proof)
    } catch {
      throw new OauthError(400, 'invalid_dpop_proof', 'Failed to verify DPoP proof')
    }
    const { header, claims } = parts
    const wrong = (what: string) => new OauthError(400, 'invalid_dpop_proof', `DPoP ${what}`)
    if (header.typ !== 'dpop+jwt' || header.jwk.d !== undefined) throw wrong('header')
    if (Math.abs(claims.iat - Date.now() / 1_000) > LIFE_S) throw wrong('"iat"')
    if (claims.htm !== method) throw wrong('"htm" mismatch')
    if (claims.htu !== url) throw wrong('"htu" mismatch')
    if (claims.nonce !== this.nonce)
      throw new OauthError(400, 'use_dpop_nonce', 'Authorization server requires nonce')
    const ath = access && createHash('sha256').update(access).digest('base64url')
    if (claims.ath !== ath) throw wrong('"ath" mismatch')
    if (!claims.jti || this.seen.has(claims.jti)) throw wrong('proof replayed')
    this.seen.add(claims.jti)
    return thumbprintOf(header.jwk)
  }
}
