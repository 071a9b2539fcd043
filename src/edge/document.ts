/**
 * Public documents, which change only with the program: compressed once, and revalidated by ETag.
 */
import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { encodingOf } from './encoding.ts'
import { JSON_TYPE, requestIdOf } from './respond.ts'
import { isCurrent } from './validators.ts'

/** In order of preference. */
const CODINGS = ['br', 'gzip', 'identity'] as const
type Coding = (typeof CODINGS)[number]

interface Representation {
  body: Uint8Array
  etag: string
}

/**
 * A document in each content coding. It is made on first use, so that the start need not wait for
 * it.
 */
export type StaticDocument = (coding: Coding) => Representation

const GZIP_LEVEL = 9
/** The next level saves 5% more but takes ten times as long. */
const BROTLI_QUALITY = 9

const compress: Record<Coding, (body: Uint8Array) => Uint8Array> = {
  br: (body) =>
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (body) => gzipSync(body, { level: GZIP_LEVEL }),
  identity: (body) => body,
}

/** The value as JSON. */
export const staticDocument = (value: unknown): StaticDocument =>
  staticText(() => new TextEncoder().encode(JSON.stringify(value)))

/** `packed`: the same text compressed by brotli, if it is kept so. */
export const staticText = (read: () => Uint8Array, packed?: () => Uint8Array): StaticDocument => {
  let source: { plain: Uint8Array; hash: string } | undefined
  const made = new Map<Coding, Representation>()
  return (coding) => {
    const known = made.get(coding)
    if (known) return known
    source ??= hashed(read())
    const { plain, hash } = source
    // Each coding has its own bytes, so it needs its own strong ETag.
    const fresh = {
      body: coding === 'br' && packed ? packed() : compress[coding](plain),
      etag: coding === 'identity' ? `"${hash}"` : `"${hash}-${coding}"`,
    }
    made.set(coding, fresh)
    return fresh
  }
}

const hashed = (plain: Uint8Array) => ({
  plain,
  hash: createHash('sha256').update(plain).digest('base64url').slice(0, 27),
})

export const documentResponse = (
  document: StaticDocument,
  request: Request,
  own: Record<string, string> = { 'content-type': JSON_TYPE },
): Response => {
  const coding = encodingOf(request.headers.get('accept-encoding'), CODINGS)
  const { body, etag } = document(coding)
  const headers = {
    ...own,
    etag,
    vary: 'accept-encoding',
    'cache-control': 'public, max-age=300',
    'x-request-id': requestIdOf(request),
  }
  if (isCurrent(request, etag)) return new Response(null, { status: 304, headers })
  // For HEAD, Bun drops the body once it knows its length.
  return new Response(body, {
    headers: coding === 'identity' ? headers : { ...headers, 'content-encoding': coding },
  })
}
