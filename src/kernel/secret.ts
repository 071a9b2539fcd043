import { hkdfSync } from 'node:crypto'

const LENGTH = 32

/** 32 bytes from base64, or undefined when the text is anything else. */
export const parseSecret = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64')
  const same = bytes.toString('base64').replace(/=+$/, '') === text.trim().replace(/=+$/, '')
  return same && bytes.length === LENGTH ? bytes : undefined
}

/** A key for one purpose, from the deployment's secret: no two purposes share a key, and none gives the secret away. */
export const deriveKey = (secret: Buffer, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, 'tendril', purpose, LENGTH))
