/**
 * Stored files over HTTP: whole or by range, with validators, and never as something that a browser
 * would run.
 */

import { FairLimit, type Holder, type Slots } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { FileRange, StoredFile } from '#ops/engine/call'
import { contentDisposition } from './disposition.ts'
import { isCurrent } from './validators.ts'

/**
 * How many files are downloaded at once. Each keeps a connection of its client. A party is a
 * workspace, or the network of an anonymous client. Such a client can use any number of networks at
 * no cost, so its downloads also count for the workspace that shares the file.
 */
const LIMITS = { name: 'files', share: 16, perWorkspace: 64, total: 256, retryAfter: 5 }

export const fileSlots = () => new FairLimit(LIMITS)

/**
 * Files up to this size are read before the answer begins, so that the answer has a length and
 * errors have a status. In bytes.
 */
const AT_ONCE = 1_048_576

export interface FileSending {
  request: Request
  requestId: string
  slots: Slots
  /** The party that the download counts against. */
  holder: Pick<Holder, 'party' | 'workspace'>
  log: Log
  /** Further headers. */
  headers?: Record<string, string>
}

/**
 * `application/json` and similar types are UTF-8 anyway, but old clients would read a text without
 * a character set as Latin-1.
 */
const typeOf = (mimeType: string): string =>
  /^text\/[^;]*$/i.test(mimeType) ? `${mimeType}; charset=utf-8` : mimeType

/**
 * The headers that every answer about a file has, even when a range is refused. A browser that is
 * told to show the file gets nothing that it could run.
 */
const headersOf = (
  { name, mimeType, sha256 }: StoredFile,
  { requestId, headers }: FileSending,
): Record<string, string> => ({
  'content-type': typeOf(mimeType),
  'content-disposition': contentDisposition(name),
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'accept-ranges': 'bytes',
  etag: `"${sha256}"`,
  // Access may have ended, so every use of a stored copy must ask again.
  'cache-control': 'private, no-cache',
  'x-request-id': requestId,
  ...headers,
})

/** More digits than any file has. */
const RANGE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/i

/**
 * The requested part. Undefined for the whole file, which is also sent for a header that we do not
 * understand, such as several ranges. `none`: the file does not have these bytes.
 */
export const rangeOf = (
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  size: number,
  etag: string,
): FileRange | 'none' | undefined => {
  const [, first, last = '', suffix] = RANGE.exec(headers.get('range')?.trim() ?? '') ?? []
  const condition = headers.get('if-range')
  if (
    method !== 'GET' ||
    (first === undefined && suffix === undefined) ||
    (condition !== null && condition.trim() !== etag)
  )
    return undefined
  if (suffix !== undefined) return suffixOf(Number(suffix), size)
  const [from, to] = [Number(first), last === '' ? size - 1 : Math.min(Number(last), size - 1)]
  if (last !== '' && Number(last) < from) return undefined
  return from < size ? { from, to } : 'none'
}

const suffixOf = (length: number, size: number): FileRange | 'none' =>
  length === 0 || size === 0 ? 'none' : { from: Math.max(0, size - length), to: size - 1 }

/**
 * Answers a download, or the question whether a copy is current. Rejects before the answer begins,
 * among others with `rate_limited:files`.
 */
export const bytesResponse = async (file: StoredFile, sending: FileSending): Promise<Response> => {
  const { request, slots, holder } = sending
  const headers = headersOf(file, sending)
  if (isCurrent(request, headers.etag!)) return new Response(null, { status: 304, headers })
  const range = rangeOf(request, file.byteSize, headers.etag!)
  if (range === 'none')
    return new Response(null, {
      status: 416,
      headers: { ...headers, 'content-range': `bytes */${file.byteSize}` },
    })
  const length = range ? range.to - range.from + 1 : file.byteSize
  if (range) headers['content-range'] = `bytes ${range.from}-${range.to}/${file.byteSize}`
  const answer = { status: range ? 206 : 200, headers }
  if (request.method === 'HEAD')
    return new Response(null, {
      ...answer,
      headers: { ...headers, 'content-length': String(length) },
    })
  const gone = new AbortController()
  // A file that is read at once is done soon, so nothing needs to end it.
  const release = slots.take(length <= AT_ONCE ? holder : { ...holder, giveUp: () => gone.abort() })
  const pieces = file.read(range, AbortSignal.any([request.signal, gone.signal]))
  if (length <= AT_ONCE) return new Response(await whole(pieces, release), answer)
  return new Response(await streamPieces(pieces, { release, gone, sending }), answer)
}

const whole = async (
  pieces: AsyncGenerator<Uint8Array>,
  release: () => void,
): Promise<Uint8Array<ArrayBuffer>> => {
  try {
    return Buffer.concat(await Array.fromAsync(pieces))
  } finally {
    release()
  }
}

interface Streaming {
  release(): void
  gone: AbortController
  sending: FileSending
}

/**
 * Reads the first piece before the answer begins. A later failure cuts the connection, so that
 * nobody takes a part for the whole.
 */
const streamPieces = async (
  pieces: AsyncGenerator<Uint8Array>,
  { release, gone, sending: { log, requestId } }: Streaming,
): Promise<ReadableStream<Uint8Array>> => {
  let next = await pieces.next().catch((cause) => {
    release()
    throw cause
  })
  return new ReadableStream(
    {
      start(controller) {
        // The slot was given up for others. The client may read so slowly that nothing is pulled.
        gone.signal.addEventListener('abort', () => controller.error())
      },
      async pull(controller) {
        try {
          if (next.done) {
            release()
            return controller.close()
          }
          controller.enqueue(next.value)
          next = await pieces.next()
        } catch (cause) {
          release()
          if (!gone.signal.aborted)
            log.warn({ err: cause, request_id: requestId }, 'a download broke off')
          // The error has no cause, because Bun would print it beside our log.
          controller.error()
        }
      },
      async cancel() {
        gone.abort()
        release()
        await pieces.return(undefined).catch(() => {})
      },
    },
    { highWaterMark: 0 },
  )
}
