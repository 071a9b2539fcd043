/**
 * What must hold of doubts that end by themselves: the network has answered with an error, and
 * provably never made the post.
 */
import type { Attempt } from '#domain/growth/sending/attempt'
import { sendTimes as times } from '#domain/growth/sending/times'
import { APPLIES_WITHIN_MS, type Fate } from './history.ts'
import { count, type Hold, type Node, nowOf, type World } from './world.ts'

const ownOf = ({ memory }: World, itemId: string): Attempt[] =>
  [...memory.attempts.values()].filter(({ record_id }) => record_id === itemId)

/**
 * The doubt has ended by itself: once, on the network's promise, and by reads that none of its
 * posts could have escaped.
 */
export const checkReturned = (world: World, before: Attempt, hold: Hold): void => {
  const wire = world.wires.find(({ request }) => request.attemptId === before.id)
  hold(before.state === 'doubt', `returned, being in ${before.state}`)
  hold(wire?.answered === 'server_error', `returned, though the network answered ${wire?.answered}`)
  hold(wire?.from.promises === true, 'returned, though the network has promised nothing')
  hold(wire?.fate.appliesInMs === null, 'returned, though the network makes the post')
  const earlier = ownOf(world, before.record_id).filter(
    ({ id, state }) => id !== before.id && ['superseded', 'returned'].includes(state),
  )
  hold(earlier.length === 0, 'returned a second time, or after a send that may have been posted')
  const from = +before.doubt_at! + APPLIES_WITHIN_MS
  const proofs = (world.wholeLooks.get(before.record_id) ?? []).filter((at) => at >= from)
  hold(proofs.length >= times.cleanReads, `returned after ${proofs.length} reads that prove it`)
  count(world, 'returned by itself')
}

interface Again {
  /** What the network makes of the attempt that was returned. */
  fate: Fate
  /** The one that is sent now. */
  attempt: Attempt
  node: Node
  hold: Hold
}

/**
 * A send after one that was returned: the network does not have that, somebody has asked since, and
 * the timeline was just read.
 */
export const checkAfterReturn = (
  world: World,
  returned: Attempt,
  { fate, attempt, node, hold }: Again,
): void => {
  const { record_id: id, ended_at } = returned
  hold(
    fate.appliesInMs === null,
    'sent a second time, though the first, which was returned, reaches the network',
  )
  hold(
    (world.asked.get(id) ?? 0) >= +ended_at!,
    'sent again after it was returned, and nobody has asked for that',
  )
  const look = node.seen.get(attempt.connection_id)
  const isShown = look?.posts.some(({ itemId }) => itemId === id)
  const isFresh = look !== undefined && look.at >= +attempt.intent_at && look.whole && !isShown
  const isOld = nowOf(world) - +ended_at! >= times.lateHitMs
  hold(isFresh || isOld, 'sent again after it was returned, and the timeline was not read')
  count(world, 'returned and sent again')
}
