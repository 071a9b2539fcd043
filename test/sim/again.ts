/**
 * What a person permits who requests that an unconfirmed item be posted again: one send, after the
 * timeline has been read.
 */
import type { Attempt, AttemptState } from '#domain/growth/sending/attempt'
import { sendTimes as times } from '#domain/growth/sending/times'
import { type StateName, stateName } from '#test/domain/records'
import { count, type Hold, itemOf, type Node, nowOf, type Post, type World } from './world.ts'

/** A person's request to post an item again. */
export interface Confirmation {
  at: number
  /** Whether an attempt that it permits has gone onto the wire. */
  spent: boolean
}

/** A read of the timeline for an item. */
export interface Look {
  at: number
  /** Whether it was read to the end. */
  whole: boolean
  /** Whether it showed a post that a send of the item had made. */
  shown: boolean
}

/** What an attempt that supersedes another one may do. */
export interface Permit {
  confirmation: Confirmation
  /** When the timeline was read without showing what went out before. */
  readAt: number
}

const NEVER: Look = { at: Number.NEGATIVE_INFINITY, whole: false, shown: false }

/**
 * Covers what this process reads about, or has claimed without hearing of it. Covers nothing for a
 * former owner, whose reads have no effect.
 */
export const recordLook = (
  world: World,
  node: Node,
  { whole, posts }: { whole: boolean; posts: Post[] },
): void => {
  const at = nowOf(world)
  for (const { kind, state, claimed_by, ref_id } of world.memory.works.values()) {
    if (kind !== 'reconcile' || state !== 'running' || claimed_by !== node.owner) continue
    const look = { at, whole, shown: posts.some(({ itemId }) => itemId === ref_id) }
    world.looks.set(ref_id, look)
    if (whole) world.wholeLooks.set(ref_id, [...(world.wholeLooks.get(ref_id) ?? []), at])
  }
}

/**
 * The doubtful attempt gives way: a person has requested it, and the timeline was read when nobody
 * could send any more.
 */
export const checkSuperseded = (world: World, before: Attempt, hold: Hold): void => {
  const now = nowOf(world)
  const look = world.looks.get(before.record_id) ?? NEVER
  const confirmation = world.confirmed.get(before.record_id)
  hold(
    confirmation !== undefined && now - confirmation.at <= times.nowMs,
    'superseded, and nobody has just asked for that',
  )
  hold(
    look.at >= (confirmation?.at ?? 0) && now - look.at <= times.freshMs,
    'superseded without a read of the timeline',
  )
  hold(look.whole, 'superseded after a read that did not come to the end')
  hold(!look.shown, 'superseded, though the timeline shows the post')
  hold(
    look.at >= +before.lease_until + times.settleMs,
    'superseded after a read while the former send was still possible',
  )
  if (confirmation) world.permits.set(before.record_id, { confirmation, readAt: look.at })
}

/** The permit of the attempt, if it supersedes another one. The request permits only one send. */
export const permitOf = (world: World, { id }: Attempt, hold: Hold): Permit | undefined => {
  const permit = world.permitted.get(id)
  if (!permit) return undefined
  hold(!permit.confirmation.spent, 'sent twice on one word of a person')
  permit.confirmation.spent = true
  count(world, 'sent again on a word')
  return permit
}

const UNDECIDED: StateName[] = ['publishing', 'publish_unconfirmed', 'in review', 'posted']
const SETTLED: AttemptState[] = ['failed', 'unsent']

/** An item that an attempt may have posted is not let go, whatever becomes of the next attempt. */
export const checkDoubted = (world: World, id: string, hold: Hold): void => {
  const state = stateName(itemOf(world, id))
  const own = [...world.memory.attempts.values()].filter(({ record_id }) => record_id === id)
  hold(
    UNDECIDED.includes(state) || own.every((one) => one.state !== 'superseded'),
    `${state}, though a send of it may have been posted`,
  )
}

/** The doubt returns only when the attempt that superseded it ends. */
export const checkReopened = (world: World, after: Attempt, hold: Hold): void => {
  const next = [...world.memory.attempts.values()].find(
    (one) => one.record_id === after.record_id && one.number === after.number + 1,
  )
  hold(
    next !== undefined && SETTLED.includes(next.state),
    'open again, though the next attempt has not failed',
  )
  count(world, 'again brought the doubt back')
}
