/**
 * What another wrote and a person passes on. It is not the sender's word: it comes as a file, for
 * which nobody vouches.
 */
import type { Attachment, Fetched } from './channel.ts'

export const passedOn = (text: string): Attachment => ({
  ...{ name: 'forwarded message.txt', mimeType: 'text/plain', byteSize: Buffer.byteLength(text) },
  ref: text === '' ? null : { text },
})

/** What came with the post itself. */
export const broughtBy = ({ text }: Record<string, unknown>): Fetched<Uint8Array> | undefined =>
  typeof text === 'string' ? { kind: 'fetched', value: Buffer.from(text) } : undefined
