/**
 * Stored files over HTTP: whole or by range, with validators, and never as something that a browser
 * would run.
 */

import type { Log } from '#kernel/log'
import { createSlots, type Holder, type Slots } from '#kernel/slots'
import type { FileRange, StoredFile } from '#ops/engine/call'
import { contentDisposition } from './disposition.ts'
import { isCurrent } from './validators.ts'

/**
 * Downloads of files at once; each keeps a connection of its client. A party is a workspace, or the
 * network of an anonymous client, whom any number of networks cost nothing: so what they download
 * counts for the workspace that shares it, too.
 */
const LIMITS = { name: 'files', perParty: 16, perWorkspace: 64, total: 256, retryAfter: 5 }

export const fileSlots = (): Slots => createSlots(LIMITS)

/**
 * What is not longer is read before the answer begins: it has a length, and its errors have a
 * status. In bytes.
 */
const AT_ONCE = 1_048_576

export interface FileSending {
  request: Request
  requestId: string
  slots: Slots
  /** Whom the download counts against. */
  holder: Pick<Holder, 'party' | 'workspace'>
  log: Log
  /** Further headers. */
  headers?: Record<string, string>
}

/**
 * `application/json` and the like are UTF-8 anyway; a text without a character set would be Latin-1
 * to old clients.
 */
const typeOf = (mimeType: string): string =>
  /^text\/[^;]*$/i.test(mimeType) ? `${mimeType}; charset=utf-8` : mimeType

/**
 * Every answer about a file has these, refusals of a range included. A browser that is told to show
 * the file gets nothing to run.
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
  // The rights may have ended, so every use of a stored copy asks again.
  'cache-control': 'private, no-cache',
  'x-request-id': requestId,
  ...headers,
})

/** More digits than any file has. */
const RANGE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/i

/**
 * The part that is asked for: undefined for all of it, as for a header that we do not understand,
 * several ranges among them. `none`: the file has no such bytes.
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
 * also with `rate_limited:files`.
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
  // What is read at once is over soon.
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
 * Its first piece is read before the answer begins. What fails later cuts the connection, so that
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
        // Given up for others: its client may read so slowly that nothing is pulled.
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
          // Without the cause, which Bun would print beside our log.
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
