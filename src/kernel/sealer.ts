/**
 * Encrypts secrets that are stored in rows. They cannot be read without the deployment's secret,
 * and cannot be used in another row.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKey, type SecretKey } from './secret.ts'
import type { SecretKeys } from './secret-keys.ts'

/**
 * The tables whose rows have sealed values. How each is sealed anew when the secret key is rotated
 * is in src/store/secret/sealed-values.ts.
 */
export type SealedTable =
  | 'account_authorization'
  | 'connection'
  | 'deployment_secret'
  | 'webhook_endpoint'
  | 'webhook_rule'
  | 'mcp_server'
  | 'channel_connection'
  | 'channel_reply'
  | 'idempotency'

/** Names the table, the row and, if a table has several, the column. */
export type SealedRow = `${SealedTable}/${string}`

export interface Sealer {
  seal(text: string, row: SealedRow): Buffer
  /** Throws if the bytes were changed, or belong to another row or deployment. */
  open(sealed: Buffer, row: SealedRow): string
}

/** The first byte. Before keys could be rotated, no fingerprint followed it. */
const [UNNAMED, NAMED] = [1, 2]
const FINGERPRINT_BYTES = 8
const IV_BYTES = 12
const TAG_BYTES = 16
const ALGORITHM = 'aes-256-gcm'

/** The first bytes of everything sealed under a key. */
export const sealedUnder = (fingerprint: string): Buffer =>
  Buffer.concat([Buffer.of(NAMED), Buffer.from(fingerprint, 'hex')])

const fingerprintIn = (sealed: Buffer): string | undefined =>
  sealed[0] === NAMED ? sealed.toString('hex', 1, 1 + FINGERPRINT_BYTES) : undefined

const decrypt = (key: Buffer, body: Buffer, row: SealedRow): string => {
  const [iv, tag] = [body.subarray(0, IV_BYTES), body.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)]
  const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(row))
    .setAuthTag(tag)
  return (
    decipher.update(body.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  )
}

/** The first that opens it, of keys of which any may have sealed it. */
const decryptByAny = (keys: Buffer[], body: Buffer, row: SealedRow): string => {
  const [key, ...others] = keys
  try {
    return decrypt(key!, body, row)
  } catch (cause) {
    if (others.length === 0) throw cause
    return decryptByAny(others, body, row)
  }
}

/**
 * AES-256-GCM with a random nonce: version, fingerprint of the secret key, nonce, tag, ciphertext.
 * Opens what any known key has sealed, and seals under the newest.
 */
export const createSealer = (keys: SecretKeys): Sealer => {
  const made = new Map<SecretKey, Buffer>()
  const derived = (key: SecretKey): Buffer =>
    made.getOrInsertComputed(key, ({ bytes }) => deriveKey(bytes, 'secrets in rows'))
  return {
    seal(text, row) {
      const { newest } = keys
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, derived(newest), iv).setAAD(Buffer.from(row))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([sealedUnder(newest.fingerprint), iv, cipher.getAuthTag(), sealed])
    },
    open(sealed, row) {
      const fingerprint = fingerprintIn(sealed)
      if (fingerprint !== undefined) {
        const key = keys.find(fingerprint)
        if (!key) throw new Error(`a secret that is sealed under another key: ${fingerprint}`)
        return decrypt(derived(key), sealed.subarray(1 + FINGERPRINT_BYTES), row)
      }
      if (sealed[0] !== UNNAMED) throw new Error('a sealed secret of an unknown version')
      return decryptByAny(keys.known.map(derived), sealed.subarray(1), row)
    },
  }
}
