import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Whether `given` is the HMAC-SHA256 of the parts, in lower-case hexadecimal. A wrong one takes as
 * long as a right one.
 */
export const isHmac = (
  given: string,
  secret: string,
  ...parts: (string | Uint8Array)[]
): boolean => {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part)
  const expected = Buffer.from(hmac.digest('hex'))
  const sent = Buffer.from(given)
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}
