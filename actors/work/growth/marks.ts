/**
 * Looks up what the text of a draft needs beside it: whom it mentions, and the page that it links
 * to. Asking twice does no harm. What cannot be had after a few tries is left out.
 */
import type { Claimed, Claiming, Ending, Lane, LaneContext } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { itemSaved } from '#decisions/growth/item-writes'
import { isUnmarked, marksPayload, marksWork } from '#decisions/growth/marks-work'
import { accountOf } from '#decisions/growth/timeline'
import { allowedHosts, fetchAsks, hostOf } from '#domain/agent/job/fetching'
import { decisionsOf } from '#domain/agent/job/verdict'
import type { Item } from '#domain/growth/drafting/item'
import { keptMarks } from '#domain/growth/drafting/marks'
import type { Connection } from '#domain/growth/sending/connection'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import type { FairLimit } from '#kernel/fair-limit'
import type { MarksMade, NetworkMarks } from '#port/network/marks'
import type { NetworkAccount } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { toolDecisions } from '#store/agent/rules'
import { loadNow } from '#store/engine/load'
import { accountOfItem } from '#store/growth/connections'
import { draftsBefore, itemPart } from '#store/growth/items'
import { productUrls } from '#store/growth/products'
import { finishWork } from '../decisions.ts'

export interface MarksDeps {
  networks: Networks
  failpoints: Failpoints
  /** Hosts that the operator lets agents read unasked. */
  fetchAllow: readonly string[]
  /** Texts that this process looks things up for at once, granted to workspaces round-robin. */
  marking: FairLimit
}

interface Job {
  item: Pick<Item, 'id' | 'body'>
  account: Connection
  marks: NetworkMarks<NetworkAccount>
  mayAsk(url: string): boolean
}

type Outcome = ({ kind: 'made' } & MarksMade) | { kind: 'failed' } | { kind: 'stopped' }

const LEASE_MS = 60_000
/** The pauses before further tries. */
const AGAIN_MS = [5_000, 30_000]
/** The pause while this process looks up too many others, or is stopping. */
const STOPPED_MS = 1_000
const PAGE = 50

const NOTHING = { mentions: [], card: null }

export const marksLane = (deps: MarksDeps): Ending<Lane<Job, Outcome>> => ({
  kind: 'marks',
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: (sql, gate, work) => {
    const letter = { sql, gate, work }
    return marksPayload(work).over ? goOver(deps, letter) : claimItem(deps, letter)
  },
  run: (job, context) => look(deps, job, context),
  settle: (sql, gate, { work, job, outcome }) => settle(deps, { sql, gate, work }, job, outcome),
  givenUp: async (_sql, _gate, work) => finishWork(work),
  crashed: () => ({ kind: 'failed' }),
})

/** Gives drafts without marks work of their own, a page at a time. */
const goOver = async (
  { networks }: MarksDeps,
  { sql, gate: { now }, work }: Claiming,
): Promise<{ decision: Decision<void> }> => {
  const { before, left } = marksPayload(work).over!
  const limit = Math.min(PAGE, left)
  const { drafts } = await loadNow(sql, { drafts: draftsBefore(before, limit) })
  const rows = drafts
    .filter((item) => isUnmarked(item, networks.marking))
    .map((item) => marksWork(item, now))
  const last = drafts.length < limit || left <= limit ? undefined : drafts.at(-1)
  if (!last) return { decision: finishWork(work, { work: rows }) }
  const payload = { over: { before: last.id, left: left - limit } }
  const requeued = [{ id: work.id, runAt: now, payload }]
  return { decision: { reply: undefined, effects: { work: rows, requeued } } }
}

/** The draft and its account, if its marks are still to be made. */
const unmarked = async (
  { networks }: MarksDeps,
  { sql, work }: Claiming,
): Promise<(Omit<Job, 'mayAsk' | 'item'> & { item: Item }) | undefined> => {
  const { item, account } = await loadNow(sql, {
    item: itemPart(work.ref_id),
    account: accountOfItem(work.ref_id),
  })
  const marks = account && networks.named(account.network)?.marks
  return item && marks && account.status === 'connected' && isUnmarked(item, networks.marking)
    ? { item, account, marks }
    : undefined
}

/**
 * Whoever writes a text chooses what is asked for it, and could tell that host something. A person
 * or a program with a key may. Agents and drafters may have read words of strangers, so for their
 * texts only hosts are asked that an agent may read unasked, and those of products.
 */
const askingFor = async (
  { fetchAllow }: MarksDeps,
  { sql }: Claiming,
  { written_by: by }: Item,
): Promise<Job['mayAsk']> => {
  if (by?.kind === 'person' || by?.kind === 'key') return () => true
  const { rules, urls } = await loadNow(sql, { rules: toolDecisions, urls: productUrls })
  const ours = urls.flatMap((url) => hostOf(url) ?? [])
  const hosts = [...fetchAllow, ...allowedHosts(decisionsOf(rules)), ...ours]
  return (url) => fetchAsks({ url, hosts, taint: [], unasked: 0 }).length === 0
}

const claimItem = async (deps: MarksDeps, letter: Claiming): Promise<Claimed<Job>> => {
  const found = await unmarked(deps, letter)
  if (!found) return { decision: finishWork(letter.work) }
  const { item, account, marks } = found
  const mayAsk = await askingFor(deps, letter, item)
  const { id, body } = item
  return { job: { item: { id, body }, account, marks, mayAsk }, decision: { reply: undefined } }
}

const look = async (
  { failpoints, marking }: MarksDeps,
  { item: { body: text }, account, marks, mayAsk }: Job,
  { tenantId, signal }: LaneContext,
): Promise<Outcome> => {
  await failpoints('marks.looking')
  const request = { account: accountOf(account), text, mayAsk }
  let hasBegun = false
  try {
    const made = await marking.run(tenantId, () => {
      hasBegun = true
      return marks.make(request, signal)
    })
    await failpoints('marks.made')
    return signal.aborted ? { kind: 'stopped' } : { kind: 'made', ...made }
  } catch (cause) {
    if (!hasBegun && cause instanceof AppError) return { kind: 'stopped' }
    throw cause
  }
}

const again = (work: Claiming['work'], runAt: Date, tries: number): Decision<void> => ({
  reply: undefined,
  effects: { requeued: [{ id: work.id, runAt, payload: { tries } }] },
})

/** The text or the account may be another by now: then the row begins anew. */
const settle = async (
  deps: MarksDeps,
  letter: Claiming,
  job: Job,
  outcome: Outcome,
): Promise<Decision<void>> => {
  const {
    gate: { now },
    work,
  } = letter
  const { tries = 0 } = marksPayload(work)
  const found = await unmarked(deps, letter)
  if (!found) return finishWork(work)
  const { item, account } = found
  if (item.body !== job.item.body || account.id !== job.account.id) return again(work, now, 0)
  if (outcome.kind === 'stopped') return again(work, new Date(now.getTime() + STOPPED_MS), tries)
  const pause = AGAIN_MS[tries]
  if (pause !== undefined && (outcome.kind === 'failed' || !outcome.isWhole))
    return again(work, new Date(now.getTime() + pause), tries + 1)
  const made = outcome.kind === 'made' ? outcome.marks : NOTHING
  const marks = keptMarks(made, { body: item.body, account: account.id })
  return finishWork(work, { writes: itemSaved(item, { ...item, marks, updated_at: now }) })
}
