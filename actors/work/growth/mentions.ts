/**
 * Reads what addresses an account: mentions, replies and quotes become signals. Each connected
 * account of a network that can tell has a row of work, which remembers the reads before. A claim
 * reserves the most that the read can cost, and the rest is returned.
 */
import type { Claimed, Claiming, Lane, LaneContext } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { renewalWork } from '#decisions/growth/lost-account'
import { accountOf } from '#decisions/growth/timeline'
import { hasFeature } from '#domain/app/plan'
import { costOf, readBudgetOf, settleReads, takeReads, tomorrow } from '#domain/app/read-budget'
import {
  type MentionReads,
  mentionReadsIn,
  mentionsAllowed,
  mentionsCost,
  mentionsRead,
  mentionsSince,
  mentionsUnread,
} from '#domain/growth/learning/mentions'
import type { Connection } from '#domain/growth/sending/connection'
import type { Failpoints } from '#kernel/failpoint'
import type { Spend } from '#kernel/spend'
import type { Network, NetworkError, OthersPost } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { type Effects, merge } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { connectedOn, connectionById, saveReadingReason } from '#store/growth/connections'
import { finishWork, requeue } from '../decisions.ts'
import { readNetwork } from './network-read.ts'
import { newSignals } from './new-signals.ts'

export interface MentionsDeps {
  networks: Networks
  failpoints: Failpoints
}

interface Job {
  connection: Connection
  network: Network
  query: { since: Date; limit: number }
  reserved: Spend
}

type Failure = Pick<NetworkError, 'retryAfterMs' | 'isSessionOver'> & {
  /** What cannot be read at all, for people. */
  missing?: string | undefined
}

type Outcome =
  | { kind: 'read'; posts: OthersPost[] }
  | ({ kind: 'failed' } & Failure)
  | { kind: 'stopped' }

const READ_DEADLINE_MS = 10_000
/** When to try again after the workspace's own state prevented a read. */
const LATER_MS = 60 * 60_000

export const mentionsLane = (deps: MentionsDeps): Lane<Job, Outcome> => ({
  kind: 'mentions',
  leaseMs: 3 * READ_DEADLINE_MS,
  priority: 'background',
  claim: (sql, gate, work) => claimRead(deps, { sql, gate, work }),
  run: (job, context) => read(deps, job, context),
  async settle(sql, gate, { work, job, outcome }) {
    const letter = { sql, gate, work }
    // The network may have answered, so the reservation stays spent.
    if (outcome.kind === 'stopped') return requeue(work, gate.now)
    const connection = (await connectionById(work.ref_id)(sql))[0]
    if (connection?.status !== 'connected') return finishWork(work, refund(job, 0))
    return outcome.kind === 'read'
      ? settleRead(letter, { ...job, connection }, outcome.posts)
      : settleFailure(letter, { ...job, connection }, outcome)
  },
  crashed: () => ({ kind: 'failed' }),
})

const refund = ({ reserved }: Job, cost: number): Effects => ({
  spend: [settleReads(reserved, cost)],
})

const again = (
  { id }: Work,
  { reads, next }: { reads: MentionReads; next: Date },
  effects: Effects,
): Decision<void> => ({
  reply: undefined,
  effects: { ...effects, requeued: [{ id, runAt: next, payload: { ...reads } }] },
})

const claimRead = async (
  { networks }: MentionsDeps,
  { sql, gate, work }: Claiming,
): Promise<Claimed<Job>> => {
  const { now, plan } = gate
  const connection = (await connectionById(work.ref_id)(sql))[0]
  const network = connection && networks.named(connection.network)
  if (connection?.status !== 'connected' || !network?.readMentions)
    return { decision: finishWork(work) }
  if (plan.billing !== 'ok' || !hasFeature(plan, 'engagement'))
    return { decision: requeue(work, new Date(now.getTime() + LATER_MS)) }
  const { tier } = network.limits
  const budget = readBudgetOf(gate, tier)
  const before = mentionReadsIn(work.payload)
  const limit = mentionsAllowed(budget, before, now)
  if (limit === 0) return { decision: requeue(work, tomorrow(now)) }
  const reserved = takeReads(budget, costOf(tier, 'post', limit), now)
  const query = { since: mentionsSince(before, now), limit }
  return {
    job: { connection, network, query, reserved },
    decision: { reply: undefined, effects: { spend: [reserved] } },
  }
}

const read = async (
  { failpoints }: MentionsDeps,
  { connection, network, query }: Job,
  context: LaneContext,
): Promise<Outcome> => {
  await failpoints('mentions.reading')
  return readNetwork(context, READ_DEADLINE_MS, {
    async ask(signal): Promise<Outcome> {
      const posts = await network.readMentions!(accountOf(connection), query, signal)
      await failpoints('mentions.read')
      return { kind: 'read', posts }
    },
    failed({ reason, message, retryAfterMs, isSessionOver }): Outcome {
      const missing = reason === 'not_served' ? message : undefined
      return { kind: 'failed', retryAfterMs, isSessionOver, missing }
    },
  })
}

/** Says what is missing once, and once that nothing is any more. */
const reasonWrites = ({ id, reading_reason }: Connection, reason: string | null, now: Date) =>
  reason === reading_reason ? [] : [saveReadingReason(id, reason, now)]

/** Posts of the workspace's other accounts are no signals: those would answer each other. */
const settleRead = async (
  letter: Claiming,
  job: Job,
  posts: OthersPost[],
): Promise<Decision<void>> => {
  const { sql, gate, work } = letter
  const { now } = gate
  const { connection, network } = job
  const own = await connectedOn(sql, network.name)
  const others = posts.filter(({ author }) => !own.has(author.externalId))
  const read = { posts: others, network: network.name, target: null }
  const { effects, found } = await newSignals(letter, read)
  const cost = mentionsCost(network.limits.tier, posts.length)
  const writes = reasonWrites(connection, null, now)
  return again(
    work,
    mentionsRead(mentionReadsIn(work.payload), { found, cost }, now),
    merge({ ...refund(job, cost), writes }, effects),
  )
}

/** A failed read ends no account: whether it is still ours, sending and renewing find out. */
const settleFailure = async (
  { gate: { now }, work }: Claiming,
  job: Job,
  { retryAfterMs, isSessionOver, missing }: Failure,
): Promise<Decision<void>> => {
  const { connection } = job
  return again(work, mentionsUnread(mentionReadsIn(work.payload), now, retryAfterMs), {
    ...refund(job, 0),
    writes: missing === undefined ? [] : reasonWrites(connection, missing, now),
    work: isSessionOver ? [renewalWork(connection, now)] : [],
  })
}
