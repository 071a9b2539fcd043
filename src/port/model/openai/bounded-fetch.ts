/** Many times the largest batch, and small enough to hold for every concurrent call. */
const MOST_BYTES = 1_048_576
/**
 * The largest piece that is passed on at once, because the SDK copies the rest of a piece for each
 * event in it.
 */
const PIECE_BYTES = 16_384

/** The answer had more bytes than it may have. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

export interface FetchBounds {
  /** The most bytes of a body. 1 MiB by default. */
  mostBytes?: number
  /**
   * The most bytes of one event in a stream. With each new piece, the SDK reads the whole event
   * again.
   */
  mostInEvent?: number
  /** Called with each piece of a body. */
  heard?(): void
}

/** How many bytes have come since the last blank line. */
const sinceBlankLine = (before: number, { buffer, byteOffset, byteLength }: Uint8Array): number => {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const at = Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n'))
  return at < 0 ? before + byteLength : byteLength - at
}

const limitStream = ({ mostBytes = MOST_BYTES, mostInEvent = mostBytes, heard }: FetchBounds) => {
  let bytes = 0
  let inEvent = 0
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, stream) {
      heard?.()
      bytes += chunk.byteLength
      if (bytes > mostBytes) throw new TooLarge(`an answer of more than ${mostBytes} bytes`)
      for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) {
        const piece = chunk.subarray(at, at + PIECE_BYTES)
        inEvent = sinceBlankLine(inEvent, piece)
        if (inEvent > mostInEvent) throw new TooLarge(`an event of more than ${mostInEvent} bytes`)
        stream.enqueue(piece)
      }
    },
  })
}

/**
 * A `fetch` that only calls the provider's address. A redirect is an error, because the key would
 * follow it. A body larger than `mostBytes` fails with `TooLarge` and ends the download. Answers
 * are uncompressed, so that few bytes on the wire cannot become many here.
 */
export const boundedFetch =
  (bounds: FetchBounds = {}) =>
  async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers)
    headers.set('accept-encoding', 'identity')
    const response = await fetch(input, {
      ...init,
      headers,
      redirect: 'error',
      decompress: false,
    } as RequestInit)
    const { status, statusText } = response
    return new Response(response.body?.pipeThrough(limitStream(bounds)) ?? null, {
      status,
      statusText,
      headers: response.headers,
    })
  }
