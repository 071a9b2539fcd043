import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKey } from './secret.ts'

/**
 * Encrypts secrets that are stored in rows. They cannot be read without the deployment's secret,
 * and cannot be used in another row.
 */
export interface Sealer {
  /** `row` names the table and the row. */
  seal(text: string, row: string): Buffer
  /** Throws if the bytes were changed, or belong to another row or deployment. */
  open(sealed: Buffer, row: string): string
}

/** The first byte; it leaves room for another format. */
const VERSION = 1
const IV_BYTES = 12
const TAG_BYTES = 16
const ALGORITHM = 'aes-256-gcm'

/** AES-256-GCM with a random nonce: version, nonce, tag, ciphertext. */
export const createSealer = (secret: Buffer): Sealer => {
  const key = deriveKey(secret, 'secrets in rows')
  return {
    seal(text, row) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(row))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), sealed])
    },
    open(sealed, row) {
      if (sealed[0] !== VERSION) throw new Error('a sealed secret of an unknown version')
      const [iv, tag] = [
        sealed.subarray(1, 1 + IV_BYTES),
        sealed.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES),
      ]
      const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(row))
        .setAuthTag(tag)
      return (
        decipher.update(sealed.subarray(1 + IV_BYTES + TAG_BYTES), undefined, 'utf8') +
        decipher.final('utf8')
      )
    },
  }
}
