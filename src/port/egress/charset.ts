/** Decodes the bytes of a page in the encoding that it names. */

/** How many bytes are searched: HTML names its encoding at its beginning. */
const BEGINNING = 1_024

const NAMED = /charset\s*=\s*["']?\s*([\w:.-]{1,40})/i

const marks: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
]

const decoder = (label: string | undefined): TextDecoder | undefined => {
  try {
    return label === undefined ? undefined : new TextDecoder(label as 'utf-8')
  } catch {
    return undefined
  }
}

/**
 * Follows the order of the standard: the byte order mark, the header, the page itself. Unknown
 * encodings are treated as UTF-8.
 */
export const textOfBytes = (bytes: Uint8Array, contentType: string): string => {
  const mark = marks.find(([start]) => start.every((byte, index) => bytes[index] === byte))?.[1]
  const beginning = new TextDecoder('latin1').decode(bytes.subarray(0, BEGINNING))
  const found =
    decoder(mark) ?? decoder(NAMED.exec(contentType)?.[1]) ?? decoder(NAMED.exec(beginning)?.[1])
  return (found ?? new TextDecoder()).decode(bytes)
}
