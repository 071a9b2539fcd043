/** Downloads over HTTP as lines, which are streamed as fast as the client reads them. */
import type { DownloadForm } from '#contract/op'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { csvLine } from '#ops/engine/csv'
import type { Lines } from '#ops/engine/download'
import { errorBody } from './respond.ts'

export interface File {
  /** The name without date and extension. */
  name: string
  form: DownloadForm
  requestId: string
}

/** Content types. They are text types, because Elysia does not look into anything else. */
export const fileTypes: Record<DownloadForm, string> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
}

export const fileResponse = (
  { name, form, requestId }: File,
  body: ReadableStream<Uint8Array>,
): Response =>
  new Response(body, {
    headers: {
      'content-type': fileTypes[form],
      'content-disposition': `attachment; filename="${name}-${new Date().toISOString().slice(0, 10)}.${form}"`,
      'cache-control': 'no-store',
      'x-request-id': requestId,
    },
  })

/** The body of an answer to HEAD, which is never read. */
export const nothing = (): ReadableStream<Uint8Array> =>
  new ReadableStream({ pull: (controller) => controller.close() })

/**
 * Bun pulls it as the client reads. If reading fails, the status has already been sent, so the
 * error becomes the last line: the usual error body or, in CSV, the only cell of that line.
 */
export const linesStream = (
  { log }: { log: Log },
  lines: Lines,
  { form, requestId }: File,
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  const lastLine = (cause: unknown): string => {
    const error = AppError.from(cause)
    if (error.status >= 500)
      log.error(
        { err: error.cause ?? error, code: error.code, request_id: requestId },
        'a download broke off',
      )
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
