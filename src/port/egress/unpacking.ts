/** The encodings in which servers may compress their answers. */
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

const kinds: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

export const ACCEPTED = 'gzip, br'

/**
 * Unpacks what is written to it. Undefined if nothing is packed. Throws if the encoding is unknown,
 * or if there are several.
 */
export const unpacking = (encoding: string | string[] | undefined): Transform | undefined => {
  const name = String(encoding ?? '')
    .trim()
    .toLowerCase()
  if (name === '' || name === 'identity') return undefined
  const make = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  if (!make) throw new Error('the answer is packed in a way that is not known')
  return make()
}
