/**
 * Downloads: reads records on demand, validates them and writes them as lines. Bounds how many run
 * at once.
 */
import type { TObject } from '@sinclair/typebox'
import type { DownloadForm, NamedOp } from '#contract/op'
import { FairLimit } from '#kernel/fair-limit'
import { csvLine } from './csv.ts'
import { requireValidReply, serialise } from './serialise.ts'

/** Concurrent downloads. Each one occupies a client connection and the database for long. */
const LIMITS = { name: 'downloads', share: 3, total: 32, retryAfter: 5 }

/** The concurrent downloads of this process. */
export const downloadSlots = () => new FairLimit(LIMITS)

export interface Lines {
  /**
   * Some lines; undefined at the end. Rejects with a read error after it has returned all lines
   * read before.
   */
  next(): Promise<string | undefined>
  /** Stops reading and releases the slot. */
  end(): Promise<void>
}

interface DownloadSpec {
  o: NamedOp
  form: DownloadForm
  release(): void
}

/** The size of the pieces that `next` returns, in characters. */
const PIECE = 32_768

const lineOf = ({ o, form }: DownloadSpec): ((record: unknown) => string) => {
  if (form === 'ndjson') return (record) => `${serialise(o, record)}\n`
  const columns = columnsOf(o)
  return (record) => {
    requireValidReply(o, record)
    return csvLine(columns.map((name) => (record as Record<string, unknown>)[name]))
  }
}

const columnsOf = (o: NamedOp): string[] => Object.keys((o.output as TObject).properties)

/** Reads the first record before it resolves. Rejects if that fails. */
export const openLines = async (
  spec: DownloadSpec,
  open: () => AsyncIterable<unknown>,
): Promise<Lines> => {
  const write = lineOf(spec)
  let buffer = spec.form === 'csv' ? csvLine(columnsOf(spec.o)) : ''
  let ended = false
  let failure: { cause: unknown } | undefined
  const records = open()[Symbol.asyncIterator]()
  const read = async (): Promise<void> => {
    const { done, value } = await records.next()
    if (done) ended = true
    else buffer += write(value)
  }
  const end = async (): Promise<void> => {
    ended = true
    try {
      await records.return?.()
    } finally {
      spec.release()
    }
  }
  const readPiece = async (): Promise<void> => {
    while (!ended && !failure && buffer.length < PIECE)
      await read().catch((cause) => {
        failure = { cause }
      })
  }
  try {
    await read()
  } catch (cause) {
    await end()
    throw cause
  }
  return {
    async next() {
      await readPiece()
      const piece = buffer
      buffer = ''
      if (piece !== '') return piece
      await end()
      if (failure) throw failure.cause
      return undefined
    },
    end,
  }
}
