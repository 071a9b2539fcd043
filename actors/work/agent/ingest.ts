/**
 * The lane that reads documents. Each claim writes one block of passages with their words, in the
 * letter that settles it. If its process dies, only that block is lost, and it is cut again in the
 * same way. For a document that was deleted or is read again, the lane first removes the old rows.
 */
import {
  BLOCK,
  beginReading,
  type Document,
  documentLimits,
  failReading,
  flawOf,
  ready,
} from '#domain/agent/knowledge/document'
import { mostOfBlock, noRoom } from '#domain/agent/knowledge/document-room'
import { type Passage, passagesOf } from '#domain/agent/knowledge/passages'
import { documentRoom } from '#domain/app/room'
import { AppError, isUnavailable } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import type { FairLimit } from '#kernel/fair-limit'
import { spacedOf, spacedWords } from '#kernel/spacing'
import {
  contentPart,
  documentPart,
  hasPassages,
  insertPassages,
  insertWords,
  type NewPassage,
  removePassages,
  saveDocument,
} from '#store/agent/documents'
import type { Db } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { loadBy, loadNow } from '#store/engine/load'
import type { Work } from '#store/engine/work'
import type { Claimed, Claiming, Ending, Lane, LaneContext } from '../../engine/lane.ts'
import type { Decision } from '../../engine/letter.ts'
import { finishWork } from '../decisions.ts'

export interface IngestDeps {
  db: Pick<Db, 'read'>
  failpoints: Failpoints
  /**
   * Documents that this process reads at once, granted to tenants round-robin: each is in memory.
   */
  reading: FairLimit
}

interface Job {
  document: Document
  block: number
}

/**
 * `total`: passages in the whole document. `most`: the most bytes that the block can take. `later`:
 * the database was unreachable, or too many documents were waiting to be read.
 */
type Outcome =
  | { kind: 'cut'; passages: NewPassage[]; total: number; most: number }
  | { kind: 'failed'; error: string }
  | { kind: 'stopped' }
  | { kind: 'later' }

/** What the row remembers between blocks. */
interface Progress {
  /** The number of the next passage. */
  block: number
  /** Claims whose end is known. The others belonged to processes that died. */
  counted: number
}

const progressOf = ({ payload }: Pick<Work, 'payload'>): Progress => ({
  block: Number(payload.block ?? 0),
  counted: Number(payload.counted ?? 0),
})

const readAgain = (
  { id }: Work,
  { now }: Pick<Gate, 'now'>,
  progress: Progress,
  effects: Decision<void>['effects'] = {},
): Decision<void> => ({
  reply: undefined,
  effects: { ...effects, requeued: [{ id, runAt: now, payload: { ...progress } }] },
})

const UNREADABLE = {
  kind: 'failed',
  error: 'internal: it could not be read; retry it, and tell the operator if that fails too',
} as const

const LATER_MS = 2_000
const LEASE_MS = 60_000

export const ingestLane = (deps: IngestDeps): Ending<Lane<Job, Outcome>> => ({
  kind: 'ingest',
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: (sql, gate, work) => claim({ sql, gate, work }),
  run: (job, context) => read(deps, job, context),
  async settle(sql, gate, { work, job, outcome: came, failures }) {
    const { document } = await loadNow(sql, { document: documentPart(work.ref_id) })
    if (!document) return finishWork(work)
    const outcome = failures < documentLimits.deaths ? came : UNREADABLE
    const progress = { ...progressOf(work), counted: work.attempt }
    if (outcome.kind === 'stopped') return readAgain(work, gate, progress)
    if (outcome.kind === 'later')
      return readAgain(work, { now: new Date(gate.now.getTime() + LATER_MS) }, progress)
    if (outcome.kind === 'failed')
      return finishWork(work, {
        writes: [saveDocument(failReading(document, outcome.error, gate.now))],
      })
    return written({ gate, work }, { document, job, outcome })
  },
  async givenUp(sql, gate, work) {
    const { document } = await loadNow(sql, { document: documentPart(work.ref_id) })
    return finishWork(
      work,
      document ? { writes: [saveDocument(failReading(document, UNREADABLE.error, gate.now))] } : {},
    )
  },
  crashed: () => UNREADABLE,
})

const claim = async ({ sql, gate, work }: Claiming): Promise<Claimed<Job>> => {
  const { document, before } = await loadNow(sql, {
    document: documentPart(work.ref_id),
    before: hasPassages(work.ref_id),
  })
  const { block, counted } = progressOf(work)
  if (
    before.some &&
    (!document || document.status === 'failed' || (block === 0 && document.status === 'queued'))
  )
    return {
      decision: readAgain(work, gate, { block, counted }, { writes: removePassages(work.ref_id) }),
    }
  if (!document || (document.status !== 'queued' && document.status !== 'processing'))
    return { decision: finishWork(work) }
  if (work.attempt - counted >= documentLimits.deaths) {
    const error = `process_died: the process that read it died ${documentLimits.deaths} times`
    return {
      decision: finishWork(work, {
        writes: [saveDocument(failReading(document, error, gate.now))],
      }),
    }
  }
  const writes =
    document.status === 'queued' ? [saveDocument(beginReading(document, gate.now))] : []
  return { job: { document, block }, decision: { reply: undefined, effects: { writes } } }
}

const written = (
  { gate, work }: Pick<Claiming, 'gate' | 'work'>,
  {
    document,
    job,
    outcome,
  }: { document: Document; job: Job; outcome: Extract<Outcome, { kind: 'cut' }> },
): Decision<void> => {
  const { passages, total, most } = outcome
  const flaw = flawOf(total)
  if (flaw)
    return finishWork(work, { writes: [saveDocument(failReading(document, flaw, gate.now))] })
  const room = documentRoom(gate)
  // The next claim removes the rows that exist already.
  if (room.used + most > room.limit)
    return readAgain(
      work,
      gate,
      { block: 0, counted: work.attempt },
      { writes: [saveDocument(failReading(document, noRoom(room), gate.now))] },
    )
  const given = { documentId: document.id, configuration: document.configuration, passages }
  const writes = [insertPassages(given), insertWords(given)]
  const next = job.block + 1
  if (next * BLOCK < total)
    return readAgain(work, gate, { block: next, counted: work.attempt }, { writes })
  return finishWork(work, { writes: [...writes, saveDocument(ready(document, total, gate.now))] })
}

/** Milliseconds after which others have their turn. */
const TURN_MS = 8

const turnOfOthers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const read = async (
  { db, failpoints, reading }: IngestDeps,
  job: Job,
  context: LaneContext,
): Promise<Outcome> => {
  await failpoints('ingest.claimed')
  if (context.signal.aborted) return { kind: 'stopped' }
  try {
    return await reading.run(context.tenantId, async () => {
      const { text } = await loadBy((query) => db.read({ tenantId: context.tenantId }, query), {
        text: contentPart(job.document.id),
      })
      if (!text) return { kind: 'stopped' }
      const outcome = await cut(job, text.content, context.signal)
      await failpoints('ingest.cut')
      return outcome
    })
  } catch (cause) {
    if (context.signal.aborted) return { kind: 'stopped' }
    if (cause instanceof AppError && (cause.code === 'rate_limited' || isUnavailable(cause)))
      return { kind: 'later' }
    throw cause
  }
}

/**
 * The passages of a block, and how many there are in all; passages beyond the limit are not
 * counted.
 */
const cut = async (
  { document, block }: Job,
  content: string,
  signal: AbortSignal,
): Promise<Outcome> => {
  const passages: NewPassage[] = []
  let [total, since] = [0, performance.now()]
  for (const passage of passagesOf(content, document.mime_type === 'text/markdown')) {
    if (passage) total++
    if (passage && Math.floor(passage.number / BLOCK) === block)
      passages.push(kept(content, passage))
    if (total > documentLimits.passages) break
    if (performance.now() - since < TURN_MS) continue
    await turnOfOthers()
    if (signal.aborted) return { kind: 'stopped' }
    since = performance.now()
  }
  return { kind: 'cut', passages, total, most: mostOfBlock(passages) }
}

const kept = (content: string, { number, path, start, end }: Passage): NewPassage => {
  const text = content.slice(start, end)
  const searched = spacedWords([...path, text].join('\n'))
  return { number, path, start_at: start, end_at: end, text, spaced: spacedOf(text), searched }
}
