import { itemAnswer } from '#domain/growth/drafting/item'
import { settleAgain } from '#domain/growth/sending/post-again'
import { type SendOutcome, type Sent, type Settled, settle } from '#domain/growth/sending/publish'
import type { Sql } from '#store/engine/db'
import { resolvePending } from '#store/engine/idempotency'
import type { Effects, NewWork } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { attemptById, saveAttempt } from '#store/growth/attempts'
import { saveItem } from '#store/growth/items'
import { newWork } from '../work.ts'
import { againOf, againPayload } from './send-payload.ts'

/** What the posting state machine decided, as rows: item and attempt, and what becomes of the work. */
export const settledEffects = (settled: Settled, work: Work): Effects => {
  const { item, attempt, reopened, events } = settled
  const writes = [saveItem(item), saveAttempt(reopened ?? attempt)]
  // Of an item's attempts one may be open: the one that ends gives way first.
  const effects: Effects = { ...(reopened ? { first: [saveAttempt(attempt)] } : {}), writes, events, ...workAfter(settled, work) }
  if (item.status !== 'posted') return effects
  writes.push(resolvePending(item.id, 200, itemAnswer(item)))
  const detail = { attempt: attempt.number, external_id: item.external_id }
  return { ...effects, audit: { operation: 'growth.items.posted', refId: item.id, detail } }
}

/** What the network's answer makes of a send, whether it is the item's first or one that a person had sent again. */
export const settleSend = async (sql: Sql, { sent, work }: { sent: Sent; work: Work }, outcome: SendOutcome): Promise<Settled> => {
  const clear = againOf(work)?.clear
  const old = clear && (await attemptById(sql, clear.attemptId))
  return clear && old ? settleAgain(sent, { old, review: clear.review }, outcome) : settle(sent, outcome)
}

/** A doubtful send is looked up by a row of its own; a reader's row goes on as it is. */
const workAfter = ({ next, attempt, reopened }: Settled, work: Work): Effects => {
  const { origin } = reopened ?? attempt
  if (next.kind === 'done') return { settled: [work.id] }
  if (next.kind === 'again') return { requeued: [{ id: work.id, runAt: next.at, payload: { ...work.payload, tries: next.tries } }] }
  if (next.kind === 'reread') return { settled: [work.id], work: [againWork(work.ref_id, againOf(work)!.askedAt)] }
  // A person's word is spent: from here it is the doubt of whoever asked for the send.
  if (work.kind === 'reconcile') return { requeued: [{ id: work.id, runAt: next.at, origin, payload: {} }] }
  const reconcile = newWork('reconcile', { refId: work.ref_id, origin, runAt: next.at })
  return { settled: [work.id], work: [reconcile] }
}

/** The timeline is to be read for a person who wants the item posted again. */
export const againWork = (itemId: string, askedAt: Date): NewWork =>
  newWork('reconcile', { refId: itemId, origin: 'manual', runAt: askedAt, payload: { again: againPayload({ askedAt }) } })
