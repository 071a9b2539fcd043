/** Locking, saving and ending generations of all kinds. A new kind is a row in the table. */
import { failedArticle } from '#domain/growth/drafting/article'
import { failedBatch } from '#domain/growth/drafting/batch'
import { failedEngagement } from '#domain/growth/drafting/engagement'
import type {
  Drafting,
  FinishedGeneration,
  Generation,
  TakenQuota,
} from '#domain/growth/drafting/generation'
import { failedRedraft } from '#domain/growth/drafting/redraft'
import { failedAudit } from '#domain/growth/learning/growth-audit'
import { failedReport } from '#domain/growth/learning/report'
import { fail } from '#kernel/errors'
import type { Query, Sql } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { type Work, workOf } from '#store/engine/work'
import { lockArticle, saveArticle } from '#store/growth/articles'
import { lockBatch, saveBatch } from '#store/growth/batches'
import { lockEngagement, saveEngagement } from '#store/growth/engagements'
import { lockGrowthAudit, saveGrowthAudit } from '#store/growth/growth-audits'
import { lockRedraft, saveRedraft, tellRedraftFailed } from '#store/growth/redrafts'
import { lockReport, saveReport } from '#store/growth/reports'
import { endRun } from '#store/growth/rule-runs'
import { reopenSignal } from '#store/growth/signals'
import type { LiveLanes } from '../deciding.ts'
import type { KindWith } from '../work.ts'

/** The functions of one kind of generation. */
export interface GenerationStore<R extends Drafting> {
  /** Throws `not_found`. */
  lock(sql: Sql, id: string): Promise<R>
  save(record: R): Query
  failed(record: R, error: string, context: { taken: TakenQuota; now: Date }): FinishedGeneration<R>
  /** Further rows that a failure releases. */
  released?(record: R): Query[]
}

const storeOf = <R extends Drafting>(kind: GenerationStore<R>): GenerationStore<R> => kind

/** By kind of work, which is also the name of the table. */
export const generationStores = {
  batch: storeOf({ lock: lockBatch, save: saveBatch, failed: failedBatch }),
  article: storeOf({ lock: lockArticle, save: saveArticle, failed: failedArticle }),
  growth_audit: storeOf({ lock: lockGrowthAudit, save: saveGrowthAudit, failed: failedAudit }),
  report: storeOf({ lock: lockReport, save: saveReport, failed: failedReport }),
  redraft: storeOf({
    lock: lockRedraft,
    save: saveRedraft,
    failed: failedRedraft,
    released: (record) => [tellRedraftFailed(record)],
  }),
  engagement: storeOf({
    lock: lockEngagement,
    save: saveEngagement,
    failed: failedEngagement,
    released: (record) => reopenSignal(record),
  }),
} satisfies Record<KindWith<'recalled', 'cancelled'>, unknown>
export type GenerationKind = keyof typeof generationStores

const kinds = Object.keys(generationStores) as GenerationKind[]

/** The rows have different record types; each function only ever gets its own. */
const storeFor = (kind: string): GenerationStore<Drafting> =>
  generationStores[kind as GenerationKind] as unknown as GenerationStore<Drafting>

/** The quota that a generation took, from its work row. */
export const takenOf = (work: Work): TakenQuota => work.payload.taken as TakenQuota

interface Ending {
  now: Date
  work: Work
}

/** Effects that finish a generation. Only automatic work can have a rule's run waiting for it. */
export const finishEffects = <R extends Drafting>(
  save: GenerationStore<R>['save'],
  ended: FinishedGeneration<R>,
  work: Work,
): Effects => ({
  writes: [
    save(ended.record),
    ...(work.origin === 'automatic' ? [endRun(ended.record, ended.refund)] : []),
  ],
  events: ended.events,
  spend: ended.refund,
  settled: [work.id],
})

interface Ended<R extends Drafting> {
  record: R
  effects: Effects
}

/** Ends a locked generation with a code, and returns the quota of what it has not delivered. */
const end = <R extends Drafting>(
  { save, failed, released }: GenerationStore<R>,
  record: R,
  { error, now, work }: Ending & { error: string },
): Ended<R> => {
  // Drop the reason why it waited: that is not how it ended.
  const ended = failed({ ...record, error: null }, error, { taken: takenOf(work), now })
  return {
    record: ended.record,
    effects: merge(finishEffects(save, ended, work), { writes: released?.(ended.record) ?? [] }),
  }
}

export const failEffects = <R extends Drafting>(
  store: GenerationStore<R>,
  record: R,
  ending: Ending & { error: string },
): Effects => end(store, record, ending).effects

/** Ends the generation of a work row, of any kind. */
export const failWork = async (sql: Sql, error: string, ending: Ending): Promise<Effects> => {
  const kind = storeFor(ending.work.kind)
  return failEffects(kind, await kind.lock(sql, ending.work.ref_id), { ...ending, error })
}

const CANCELLED = 'cancelled'

/**
 * Ends a generation that somebody cancels, given its locked record, and stops the model call.
 * Without a row of work it has already settled.
 */
export const cancelGeneration = <R extends Drafting>(
  store: GenerationStore<R>,
  record: R,
  { lanes, now, work }: Pick<Ending, 'now'> & { lanes: LiveLanes; work: Work | undefined },
): Ended<R> | undefined => {
  if (!work) return undefined
  lanes.recall((live) => live.id === work.id)
  return end(store, record, { error: CANCELLED, now, work })
}

const ofKind = async (
  sql: Sql,
  kind: GenerationKind,
  id: string,
): Promise<Generation | undefined> =>
  (await sql<Generation>`select id, status, error from ${sql(kind)} where id = ${id}`)[0]

interface FoundGeneration {
  store: GenerationStore<Drafting>
  record: Drafting
  /** Undefined once it has settled. */
  work: Work | undefined
}

/** Locks a generation of any kind. Throws `not_found`. */
export const findGeneration = async (sql: Sql, id: string): Promise<FoundGeneration> => {
  for (const kind of kinds) {
    if (!(await ofKind(sql, kind, id))) continue
    const store = storeFor(kind)
    return { store, record: await store.lock(sql, id), work: await workOf(sql, kind, id) }
  }
  return fail('not_found', 'no such generation')
}
