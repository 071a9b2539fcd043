/** The deployment's secret key, and the keys that are derived from it. */
import { createHmac, hkdfSync } from 'node:crypto'

const LENGTH = 32

/** 32 bytes from base64; undefined for any other text. */
export const parseSecret = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64')
  const same = bytes.toString('base64').replace(/=+$/, '') === text.trim().replace(/=+$/, '')
  return same && bytes.length === LENGTH ? bytes : undefined
}

/**
 * What becomes of what a derived key has made while the secret key is rotated:
 * - `sealed anew`: it is opened and sealed under the new key (`sealedValues` of sealer.ts);
 * - `both`: it is accepted under both keys, and made under the new one;
 * - `second`: a second one stands beside it;
 * - `name`: it names the key.
 */
type WhenRotated = 'sealed anew' | 'both' | 'second' | 'name'

/** All purposes that keys are derived for. A key for any other does not compile. */
const derivedKeys = {
  'secrets in rows': 'sealed anew',
  'access tokens': 'both',
  'refresh tokens': 'both',
  'known browsers': 'both',
  'letters between nodes': 'both',
  'archives of workspaces': 'both',
  'password of a login': 'second',
  fingerprint: 'name',
} as const satisfies Record<string, WhenRotated>

type Purpose = Exclude<keyof typeof derivedKeys, 'password of a login'> | `password of ${string}`

/**
 * Derives a key for one purpose from the deployment's secret. Keys of two purposes differ, and none
 * reveals the secret.
 */
export const deriveKey = (secret: Buffer, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'tendril', purpose, LENGTH))

/** A secret key, with what tells it from others. */
export interface SecretKey {
  bytes: Buffer
  /** 16 hexadecimal digits, which do not reveal the key. */
  fingerprint: string
}

const FINGERPRINT_DIGITS = 16

export const secretKeyOf = (bytes: Buffer): SecretKey => ({
  bytes,
  fingerprint: deriveKey(bytes, 'fingerprint').toString('hex').slice(0, FINGERPRINT_DIGITS),
})

/** By which a database knows its key again. */
export const canaryOf = ({ bytes }: SecretKey): Buffer =>
  createHmac('sha256', bytes).update('canary').digest()
