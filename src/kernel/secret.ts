import { hkdfSync } from 'node:crypto'

const LENGTH = 32

/** 32 bytes from base64; undefined for any other text. */
export const parseSecret = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64')
  const same = bytes.toString('base64').replace(/=+$/, '') === text.trim().replace(/=+$/, '')
  return same && bytes.length === LENGTH ? bytes : undefined
}

/**
 * Derives a key for one purpose from the deployment's secret. Keys of two purposes differ, and none
 * reveals the secret.
 */
export const deriveKey = (secret: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'tendril', purpose, LENGTH))
