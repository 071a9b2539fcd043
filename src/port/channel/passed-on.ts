/**
 * Text of somebody else that a person passes on. Because these are not the sender's own words, it
 * arrives as a file that nobody vouches for.
 */
import type { Attachment, Fetched } from './channel.ts'

export const passedOn = (text: string): Attachment => ({
  name: 'forwarded message.txt',
  mimeType: 'text/plain',
  byteSize: Buffer.byteLength(text),
  ref: text === '' ? null : { text },
})

/** Bytes that came with the post itself. */
export const broughtBy = ({ text }: Record<string, unknown>): Fetched<Uint8Array> | undefined =>
  typeof text === 'string' ? { kind: 'fetched', value: Buffer.from(text) } : undefined
