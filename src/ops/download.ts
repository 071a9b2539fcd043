/** The records of a download as lines of text: read as they are asked for, each checked, few downloads at once. */
import type { TObject } from '@sinclair/typebox'
import type { DownloadForm, NamedOp } from '#contract/op'
import { fail } from '#kernel/errors'
import { csvLine } from './csv.ts'
import { requirePromised, serialise } from './validate.ts'

/** Each holds a connection of its client for long, and reads while others wait. */
const MOST = { perTenant: 3, perProcess: 32 }
const RETRY_AFTER_S = 5

/** Places for downloads that run in this process. */
export interface Slots {
  /** Throws `rate_limited` when all are taken; else gives what frees the place, once. */
  take(tenantId: string): () => void
}

export const downloadSlots = (): Slots => {
  const running = new Map<string, number>()
  let all = 0
  const add = (tenantId: string, more: number): void => {
    const count = (running.get(tenantId) ?? 0) + more
    if (count > 0) running.set(tenantId, count)
    else running.delete(tenantId)
    all += more
  }
  return {
    take(tenantId) {
      if ((running.get(tenantId) ?? 0) >= MOST.perTenant || all >= MOST.perProcess)
        return fail('rate_limited', 'downloads', { retryAfter: RETRY_AFTER_S })
      add(tenantId, 1)
      let taken = true
      return () => {
        if (taken) add(tenantId, -1)
        taken = false
      }
    },
  }
}

export interface Lines {
  /** Some lines, or undefined at the end. Rejects with what ended the reading, after all lines that were read before it. */
  next(): Promise<string | undefined>
  /** Ends the reading, wherever it is. */
  end(): Promise<void>
}

interface Writing {
  o: NamedOp
  form: DownloadForm
  release(): void
}

/** Lines are handed out in pieces of about so many characters. */
const PIECE = 32_768

const lineOf = ({ o, form }: Writing): ((record: unknown) => string) => {
  if (form === 'ndjson') return (record) => `${serialise(o, record)}\n`
  const columns = columnsOf(o)
  return (record) => {
    requirePromised(o, record)
    return csvLine(columns.map((name) => (record as Record<string, unknown>)[name]))
  }
}

const columnsOf = (o: NamedOp): string[] => Object.keys((o.output as TObject).properties)

/** The first record is read at once: what refuses it refuses the download. */
export const openLines = async (writing: Writing, open: () => AsyncIterable<unknown>): Promise<Lines> => {
  const write = lineOf(writing)
  let waiting = writing.form === 'csv' ? csvLine(columnsOf(writing.o)) : ''
  let over = false
  let failure: { cause: unknown } | undefined
  const records = open()[Symbol.asyncIterator]()
  const read = async (): Promise<void> => {
    const { done, value } = await records.next()
    if (done) over = true
    else waiting += write(value)
  }
  const end = async (): Promise<void> => {
    over = true
    try {
      await records.return?.()
    } finally {
      writing.release()
    }
  }
  const readPiece = async (): Promise<void> => {
    while (!over && !failure && waiting.length < PIECE)
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
      const piece = waiting
      waiting = ''
      if (piece !== '') return piece
      await end()
      if (failure) throw failure.cause
      return undefined
    },
    end,
  }
}
