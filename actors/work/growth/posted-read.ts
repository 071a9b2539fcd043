/**
 * Reads back a post that a person made by hand and named by its URL. The post is then measured like
 * any other, or the item says why not. The item stays posted whatever the network shows.
 */
import type { Claimed, Claiming, Ending, Lane, LaneContext } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { metricsWork } from '#decisions/growth/follow-up'
import { itemSaved } from '#decisions/growth/item-writes'
import { postedReadOf } from '#decisions/growth/posted-read'
import { accountOf } from '#decisions/growth/timeline'
import { costOf, readBudgetOf, settleReads, takeReads, tomorrow } from '#domain/app/read-budget'
import type { Item } from '#domain/growth/drafting/item'
import { FIRST_READ_MS } from '#domain/growth/learning/metric-sync'
import { isUnread, nextTry, readByHand, unreadable } from '#domain/growth/sending/by-hand'
import type { Connection } from '#domain/growth/sending/connection'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import type { Spend } from '#kernel/spend'
import type { Network, NetworkError, OthersPost } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import type { Effects } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { accountOfRecord, namePost, takenPosts } from '#store/growth/attempts'
import { itemPart } from '#store/growth/items'
import { finishWork } from '../decisions.ts'
import { readNetwork } from './network-read.ts'

export interface PostedReadDeps {
  networks: Networks
  failpoints: Failpoints
}

interface Job {
  connection: Connection
  network: Network
  url: string
  reserved: Spend
}

type Outcome =
  | { kind: 'read'; post: OthersPost | null }
  | { kind: 'failed'; reason: NetworkError['reason']; retryAfterMs?: number | undefined }
  | { kind: 'stopped' }

const READ_DEADLINE_MS = 10_000

/**
 * If the process of a read died, the read is repeated. Its reservation stays spent, because the
 * network may have billed it.
 */
export const postedReadLane = (deps: PostedReadDeps): Ending<Lane<Job, Outcome>> => ({
  kind: 'posted_read',
  leaseMs: 3 * READ_DEADLINE_MS,
  priority: 'background',
  claim: (sql, gate, work) => claimRead(deps, { sql, gate, work }),
  run: (job, context) => read(deps, job, context),
  async settle(sql, gate, { work, job, outcome }) {
    const letter = { sql, gate, work }
    const item = await unread(letter)
    const spent = settleReads(
      job.reserved,
      outcome.kind === 'read' && outcome.post ? job.reserved.amount : 0,
    )
    if (!item) return finishWork(work, { spend: [spent] })
    if (outcome.kind === 'stopped')
      return { reply: undefined, effects: { requeued: [{ id: work.id, runAt: gate.now }] } }
    if (outcome.kind === 'failed')
      return tryAgain(letter, item, { ...outcome, effects: { spend: [spent] } })
    return settleRead(letter, item, { job, post: outcome.post, spent })
  },
  async givenUp(sql, gate, work) {
    const item = await unread({ sql, gate, work })
    return finishWork(
      work,
      item ? { writes: itemSaved(item, unreadable(item, 'url_not_read: internal', gate.now)) } : {},
    )
  },
  crashed: () => ({ kind: 'failed', reason: 'bad_answer' }),
})

const unread = async ({ sql, work }: Claiming): Promise<Item | undefined> => {
  const { item } = await loadNow(sql, { item: itemPart(work.ref_id) })
  return item && isUnread(item) ? item : undefined
}

interface Failure {
  reason: string
  retryAfterMs?: number | undefined
  /** The earliest time of the next try. */
  from?: Date
  effects?: Effects
}

/** Schedules another try. After the last one, the item says why its post is unknown. */
const tryAgain = (
  { gate: { now }, work }: Claiming,
  item: Item,
  { reason, retryAfterMs, from, effects = {} }: Failure,
): Decision<void> => {
  const { tries } = postedReadOf(work)
  const next = nextTry(tries, now, retryAfterMs)
  if (!next) {
    const writes = itemSaved(item, unreadable(item, `url_not_read: ${reason}`, now))
    return finishWork(work, { ...effects, writes })
  }
  const runAt = from && from > next ? from : next
  return {
    reply: undefined,
    effects: {
      ...effects,
      requeued: [{ id: work.id, runAt, payload: { ...work.payload, tries: tries + 1 } }],
    },
  }
}

const claimRead = async ({ networks }: PostedReadDeps, letter: Claiming): Promise<Claimed<Job>> => {
  const { sql, gate, work } = letter
  const item = await unread(letter)
  if (!item) return { decision: finishWork(work) }
  const { account } = await loadNow(sql, {
    account: accountOfRecord({ sendable: 'post', record_id: item.id }),
  })
  const network = account && networks.named(account.network)
  if (!network) return { decision: tryAgain(letter, item, { reason: 'x_not_connected' }) }
  // Networks bill reads, so nothing is read until the workspace's billing is in order.
  if (gate.plan.billing !== 'ok')
    return { decision: tryAgain(letter, item, { reason: `plan_invalid:${gate.plan.billing}` }) }
  const { tier } = network.limits
  try {
    const reserved = takeReads(readBudgetOf(gate, tier), costOf(tier, 'post', 1), gate.now)
    const { has_open_posts: _, ...connection } = account
    return {
      job: { connection, network, url: item.url!, reserved },
      decision: { reply: undefined, effects: { spend: [reserved] } },
    }
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== 'x_read_budget_exhausted') throw cause
    return { decision: tryAgain(letter, item, { reason: cause.code, from: tomorrow(gate.now) }) }
  }
}

const read = async (
  { failpoints }: PostedReadDeps,
  { connection, network, url }: Job,
  context: LaneContext,
): Promise<Outcome> => {
  await failpoints('posted_read.reading')
  return readNetwork(context, READ_DEADLINE_MS, {
    ask: async (signal): Promise<Outcome> => ({
      kind: 'read',
      post: await network.readPost(accountOf(connection), url, signal),
    }),
    failed: ({ reason, retryAfterMs }) => ({ kind: 'failed', reason, retryAfterMs }) as const,
  })
}

const settleRead = async (
  { sql, gate: { now }, work }: Claiming,
  item: Item,
  { job: { connection }, post, spent }: { job: Job; post: OthersPost | null; spent: Spend },
): Promise<Decision<void>> => {
  const place = {
    sendable: 'post',
    connectionId: connection.id,
    externalIds: post ? [post.externalId] : [],
  } as const
  const isTaken = (await takenPosts(place)(sql)).length > 0
  const next = readByHand(item, { post, accountExternalId: connection.external_id, isTaken, now })
  const effects: Effects = { writes: itemSaved(item, next), spend: [spent] }
  if (next.external_id === null) return finishWork(work, effects)
  const firstRead = new Date(Math.max(now.getTime(), next.posted_at!.getTime() + FIRST_READ_MS))
  return finishWork(work, {
    ...effects,
    writes: [
      ...effects.writes!,
      namePost({ itemId: item.id, connectionId: connection.id, externalId: next.external_id }),
    ],
    work: [metricsWork({ tenantId: postedReadOf(work).tenantId, runAt: firstRead })],
  })
}
