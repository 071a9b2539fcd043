/** What must hold of every change of an attempt to post. */
import type { Item } from '#domain/growth/drafting/item'
import { type Attempt, PROCESS_STOPPED } from '#domain/growth/sending/attempt'
import { sendTimes as times } from '#domain/growth/sending/times'
import { checkReopened, checkSuperseded } from './again.ts'
import { attemptMoves } from './outcome.ts'
import { checkReturned } from './returning.ts'
import { count, type Hold, itemOf, must, nowOf, type World } from './world.ts'

/** How late a scheduled post may still be claimed. */
const latest = (item: Item, tried: boolean): number => {
  if (tried) return times.retryWindowMs + times.missedToleranceMs
  return item.on_missed === 'skip' ? times.missedToleranceMs : times.missedMs
}

const checkClaim = (world: World, attempt: Attempt): void => {
  const item = itemOf(world, attempt.record_id)
  const hold: Hold = (holds, words) => must(world, holds, `${item.id}: ${words}`)
  hold(attempt.state === 'open', `claimed as ${attempt.state}`)
  const permit = world.permits.get(item.id)
  if (permit) world.permitted.set(attempt.id, permit)
  world.permits.delete(item.id)
  world.underWay.add(item.id)
  if (attempt.origin === 'manual') return
  hold(!world.memory.paused, 'claimed unattended after the pause')
  const tried = world.wires.some(({ itemId }) => itemId === item.id)
  const late = +attempt.intent_at - +item.post_at!
  hold(late <= latest(item, tried), `claimed ${late} ms after it was due`)
}

/**
 * The network is asked only when nobody can send any more and it has had time to settle; a person,
 * after enough clean reads.
 */
const checkDoubt = (world: World, before: Attempt, after: Attempt): void => {
  const age = nowOf(world) - +(before.doubt_at ?? 0)
  const hold: Hold = (holds, words) => must(world, holds, `${after.record_id}: ${words}`)
  if (after.clean_reads > before.clean_reads) {
    hold(
      world.readWhole.get(after.connection_id) === true,
      'counted as not there by a read that did not show everything',
    )
    const mayStillSend =
      before.error === PROCESS_STOPPED ? +before.lease_until - +before.doubt_at! : 0
    hold(
      age >= times.settleMs + Math.max(0, mayStillSend),
      `looked for ${age} ms after the doubt began, counted as not there`,
    )
  }
  if (before.state !== 'doubt' || after.state !== 'review') return
  const isSure = after.clean_reads >= times.cleanReads && age >= times.windowMs
  hold(isSure || age >= times.lateHitMs, `given up after ${after.clean_reads} reads in ${age} ms`)
}

/** The last moment at which a send may begin. */
const LATEST_SEND_MS = times.leaseMs - times.deadlineMs - times.marginMs

const countLease = (world: World, before: Attempt, after: Attempt): void => {
  if (before.state !== 'open' || after.state === 'open') return
  if (nowOf(world) >= +before.lease_until) count(world, 'lease ended before the outcome')
  if (after.state === 'unsent' && nowOf(world) - +before.intent_at > LATEST_SEND_MS)
    count(world, 'lease too short for the send')
}

export const checkAttempt = (world: World, before: Attempt | undefined, after: Attempt): void => {
  count(world, `attempt ${after.state}`)
  if (!before) {
    checkClaim(world, after)
    return
  }
  const isMove = attemptMoves[before.state].includes(after.state)
  must(
    world,
    isMove,
    `${after.record_id}: an attempt that was ${before.state} became ${after.state}`,
  )
  const hold: Hold = (holds, words) => must(world, holds, `${after.record_id}: ${words}`)
  if (before.state !== 'superseded' && after.state === 'superseded')
    checkSuperseded(world, before, hold)
  if (before.state === 'superseded') checkReopened(world, after, hold)
  if (after.state === 'returned') checkReturned(world, before, hold)
  checkDoubt(world, before, after)
  countLease(world, before, after)
}
