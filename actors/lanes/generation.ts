/** Drafts a batch: the model runs beside the mailbox, its drafts come back as one letter. */

import { type Batch, GENERATION_RUNS, generating, itemOf, ready } from '#domain/batch'
import type { BriefLearning, DraftBrief, DraftSet, RecentPost } from '#domain/draft'
import { MOST_ACTIVE_LEARNINGS } from '#domain/learning'
import { type Product, productsForBrief } from '#domain/product'
import type { Failpoints } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import type { Turns } from '#kernel/turns'
import { mentionsArchived } from '#port/model/check-draft'
import { type Drafter, GenerationError } from '#port/model/drafter'
import type { Network } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { lockBatch, saveBatch } from '#store/batches'
import { currentDefault } from '#store/connections'
import type { Sql } from '#store/db'
import { insertItem, recentItems } from '#store/items'
import { activeLearnings } from '#store/learnings'
import type { Gate } from '#store/letter'
import { allProducts } from '#store/products'
import { currentProfile } from '#store/profiles'
import { failedEffects, takenOf } from '#store/settled'
import type { Work } from '#store/work'
import type { Claimed, Lane, LaneContext } from '../lane.ts'
import type { Decision } from '../letter.ts'

export interface GenerationDeps {
  drafter: Drafter
  networks: Networks
  failpoints: Failpoints
  /** Model calls of the whole process, granted to tenants in turn. */
  turns: Turns
  /** A generation that takes longer is given up. */
  deadlineMs: number
}

type Outcome = { kind: 'drafted'; set: DraftSet } | { kind: 'failed'; error: string } | { kind: 'stopped' }

interface Job {
  brief: DraftBrief
}

/** How many earlier posts a new batch is held against. */
const RECENT_POSTS = 100

export const generationLane = (deps: GenerationDeps): Lane<Job, Outcome> => ({
  kind: 'batch',
  leaseMs: deps.deadlineMs + 30_000,
  priority: 'background',
  claim: (sql, gate, work) => claimBatch(deps, { sql, gate, work }),
  run: (job, context) => draft(deps, job, context),
  async settle(sql, gate, { work, job, outcome }) {
    const batch = await lockBatch(sql, work.ref_id)
    if (outcome.kind === 'stopped') return again(batch, gate, { ...work, payload: { ...work.payload, stops: stopsOf(work) + 1 } })
    if (outcome.kind === 'failed') return failBatch(batch, outcome.error, { gate, work })
    const set = await stillRight(sql, outcome.set)
    return deliver(batch, set, { gate, work, measure: job.brief.measure })
  },
  crashed: () => ({ kind: 'failed', error: 'enqueue_failed' }),
  async orphaned(sql, gate, work) {
    const batch = await lockBatch(sql, work.ref_id)
    const died = work.attempt - stopsOf(work)
    return died >= GENERATION_RUNS ? failBatch(batch, 'enqueue_failed', { gate, work }) : again(batch, gate, work)
  },
})

interface Claiming {
  sql: Sql
  gate: Gate
  work: Work
}

const stopsOf = (work: Work): number => Number(work.payload.stops ?? 0)

const productsNow = async (sql: Sql) => productsForBrief((await allProducts(sql)) as unknown as Product[])

const claimBatch = async ({ networks }: GenerationDeps, { sql, gate, work }: Claiming): Promise<Claimed<Job>> => {
  const batch = await lockBatch(sql, work.ref_id)
  const { profile } = await currentProfile(sql)
  const connection = await currentDefault(sql)
  const { capabilities }: Network = (connection && networks.named(connection.network)) ?? networks.first
  const brief: DraftBrief = {
    profile,
    count: batch.requested,
    focus: batch.focus,
    recent: (await recentItems(RECENT_POSTS)(sql)) as unknown as RecentPost[],
    learnings: (await activeLearnings(MOST_ACTIVE_LEARNINGS)(sql)) as unknown as BriefLearning[],
    ...(await productsNow(sql)),
    maxLength: capabilities.maxLength,
    measure: (text) => capabilities.measure(text),
    seed: batch.id,
  }
  return { job: { brief }, decision: { reply: undefined, effects: { writes: [saveBatch(generating(batch, gate.now))] } } }
}

const draft = async (
  { drafter, failpoints, turns, deadlineMs }: GenerationDeps,
  { brief }: Job,
  context: LaneContext,
): Promise<Outcome> => {
  await failpoints('generation.claimed')
  const deadline = AbortSignal.timeout(deadlineMs)
  try {
    const signal = AbortSignal.any([context.signal, deadline])
    const set = await turns.run(context.tenantId, () => drafter.draft(brief, signal))
    await failpoints('generation.drafted')
    return { kind: 'drafted', set }
  } catch (cause) {
    if (context.signal.aborted) return { kind: 'stopped' }
    if (deadline.aborted) return { kind: 'failed', error: 'generation_failed: the model did not answer in time; ask for fewer posts' }
    if (cause instanceof GenerationError) return { kind: 'failed', error: `generation_failed: ${cause.hint}` }
    throw cause
  }
}

/** Not the generation's fault: it goes back to the queue as it was. A stop in good order is no run that died. */
const again = (batch: Batch, gate: Gate, work: Work): Decision<void> => ({
  reply: undefined,
  effects: {
    writes: [saveBatch({ ...batch, status: 'queued', updated_at: gate.now })],
    requeued: [{ id: work.id, runAt: gate.now, payload: work.payload }],
  },
})

const failBatch = (batch: Batch, error: string, { gate, work }: { gate: Gate; work: Work }): Decision<void> => ({
  reply: undefined,
  effects: failedEffects(batch, error, { now: gate.now, work }),
})

/** A product may have been archived while the model wrote. */
const stillRight = async (sql: Sql, set: DraftSet): Promise<DraftSet> => {
  const offered = await productsNow(sql)
  return { ...set, drafts: set.drafts.filter(({ body }) => !mentionsArchived(body, offered)) }
}

interface Delivery {
  gate: Gate
  work: Work
  measure(text: string): number
}

const deliver = (batch: Batch, set: DraftSet, { gate, work, measure }: Delivery): Decision<void> => {
  const done = ready(batch, set, { taken: takenOf(work), now: gate.now })
  const items = set.drafts
    .slice(0, batch.requested)
    .map((one) => itemOf(one, { id: newId(), batchId: batch.id, length: measure(one.body), now: gate.now }))
  return {
    reply: undefined,
    effects: {
      writes: [saveBatch(done.batch), ...items.map(insertItem)],
      events: done.events,
      spend: done.refund,
      settled: [work.id],
    },
  }
}
