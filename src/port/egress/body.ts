/** The body of a response as it arrives. */
import type { IncomingMessage } from 'node:http'

/** More bytes arrived than the caller accepts. */
export class TooLong extends Error {
  override readonly name = 'TooLong'
}

interface Reading {
  maxBytes: number
  ended: AbortSignal
  /** Ends the connection. */
  end(): void
}

/**
 * The body as a stream, which reads no faster than it is read itself. When it ends, for whatever
 * reason, the connection has ended too.
 */
export const bodyOf = (
  response: IncomingMessage,
  { maxBytes, ended, end }: Reading,
): ReadableStream<Uint8Array> => {
  let left = maxBytes
  let isOver = false
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const over = (finish: () => void) => {
        if (isOver) return
        isOver = true
        finish()
        end()
      }
      const fail = (cause: unknown) =>
        over(() => controller.error(ended.aborted ? ended.reason : cause))
      response.on('data', (chunk: Buffer) => {
        if (isOver) return
        left -= chunk.length
        if (left < 0) return fail(new TooLong('the body is too long'))
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) response.pause()
      })
      response.on('end', () => over(() => controller.close()))
      response.on('error', fail)
      response.on('close', () => fail(new Error('the body broke off')))
    },
    pull: () => void response.resume(),
    cancel() {
      isOver = true
      end()
    },
  })
}
