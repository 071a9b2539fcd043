/** A download as it leaves over HTTP: lines as fast as the client takes them. */
import type { DownloadForm } from '#contract/op'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { csvLine } from '#ops/csv'
import type { Lines } from '#ops/download'
import { errorBody } from './respond.ts'

export interface File {
  /** Without date and ending. */
  name: string
  form: DownloadForm
  requestId: string
}

/** As text, because Elysia looks into nothing that is not. */
export const fileTypes: Record<DownloadForm, string> = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' }

export const fileResponse = ({ name, form, requestId }: File, body: ReadableStream<Uint8Array>): Response =>
  new Response(body, {
    headers: {
      'content-type': fileTypes[form],
      'content-disposition': `attachment; filename="${name}-${new Date().toISOString().slice(0, 10)}.${form}"`,
      'cache-control': 'no-store',
      'x-request-id': requestId,
    },
  })

/** The body of an answer to HEAD, of which only the headers are sent: it is never read. */
export const nothing = (): ReadableStream<Uint8Array> => new ReadableStream({ pull: (controller) => controller.close() })

/**
 * Pulled by Bun as the client reads. What ends the reading before its end becomes the last line, since the status has been sent
 * long ago: an error as any answer has it; in a table that JSON is the one cell of the last line.
 */
export const linesStream = ({ log }: { log: Log }, lines: Lines, { form, requestId }: File): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  const lastLine = (cause: unknown): string => {
    const error = AppError.from(cause)
    if (error.status >= 500) log.error({ err: error.cause ?? error, code: error.code, request_id: requestId }, 'a download broke off')
    const body = errorBody(error, requestId)
    return form === 'csv' ? csvLine([body]) : `${body}\n`
  }
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const piece = await lines.next()
          if (piece === undefined) controller.close()
          else controller.enqueue(encoder.encode(piece))
        } catch (cause) {
          controller.enqueue(encoder.encode(lastLine(cause)))
          controller.close()
        }
      },
      cancel: () => lines.end(),
    },
    { highWaterMark: 0 },
  )
}
