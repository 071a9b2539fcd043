/** Many times the largest batch, and small enough to hold for every concurrent call. */
const MOST_BYTES = 1_048_576

/** The answer had more than `MOST_BYTES`. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

const limited = () => {
  let bytes = 0
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, stream) {
      bytes += chunk.byteLength
      if (bytes > MOST_BYTES) throw new TooLarge(`an answer of more than ${MOST_BYTES} bytes`)
      stream.enqueue(chunk)
    },
  })
}

/**
 * `fetch` for the provider's address alone. A redirect is an error, since the key would follow it. A body larger than
 * `MOST_BYTES` fails with `TooLarge` and ends the download. Answers are uncompressed, so that few bytes on the wire cannot
 * become many here.
 */
export const boundedFetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
  const headers = new Headers(init.headers)
  headers.set('accept-encoding', 'identity')
  const response = await fetch(input, { ...init, headers, redirect: 'error', decompress: false } as RequestInit)
  const { status, statusText } = response
  return new Response(response.body?.pipeThrough(limited()) ?? null, { status, statusText, headers: response.headers })
}
