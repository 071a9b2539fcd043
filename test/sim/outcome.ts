/**
 * What must hold of every item right after a commit that has changed it: what follows from an
 * answer, and who takes it further.
 */
import type { Item } from '#domain/growth/drafting/item'
import type { Attempt, AttemptState } from '#domain/growth/sending/attempt'
import { sendTimes as times } from '#domain/growth/sending/times'
import { type StateName, stateName } from '#test/domain/records'
import { type Fate, RETRY_AFTER_MS } from './history.ts'
import { isOpen } from './memory.ts'
import { count, type Hold, type World } from './world.ts'

/**
 * Answers that prove that nothing was posted, and how long the machine then waits at least before
 * it tries again by itself.
 */
export const PROVEN: Partial<Record<Fate['answer'], number>> = {
  refused: Number.POSITIVE_INFINITY,
  disconnected: Number.POSITIVE_INFINITY,
  rate_limited: RETRY_AFTER_MS,
  unreachable: times.backoffMs[0]!,
}

/** Where an attempt may go; what has ended does not change any more. */
export const attemptMoves: Record<AttemptState, AttemptState[]> = {
  open: ['posted', 'failed', 'unsent', 'doubt'],
  doubt: ['doubt', 'review', 'posted', 'superseded', 'returned'],
  review: ['review', 'posted', 'superseded'],
  posted: [],
  failed: [],
  unsent: [],
  superseded: ['doubt', 'review'],
  returned: ['posted', 'review'],
}

const attemptsOf = ({ memory }: World, id: string): Attempt[] =>
  [...memory.attempts.values()].filter(({ record_id }) => record_id === id)

/**
 * The states that may follow from what the sender was told, where a person had asked for it now,
 * and where it was due.
 */
const follows: Record<Fate['answer'], Record<Attempt['origin'], StateName[]>> = {
  posted: { manual: ['posted'], automatic: ['posted'] },
  refused: { manual: ['publish_failed'], automatic: ['publish_failed'] },
  rate_limited: { manual: ['approved'], automatic: ['scheduled', 'publish_failed'] },
  unreachable: { manual: ['approved'], automatic: ['scheduled', 'publish_failed'] },
  disconnected: { manual: ['approved'], automatic: ['approved'] },
  unknown: { manual: ['publish_unconfirmed'], automatic: ['publish_unconfirmed'] },
  server_error: { manual: ['publish_unconfirmed'], automatic: ['publish_unconfirmed'] },
}

/**
 * Stopped before the send: it waits as before, unless the timeline that was read first shows it, or
 * could not be read.
 */
const stopped = (world: World, { record_id, state, origin }: Attempt): StateName[] => {
  const waits: StateName = origin === 'manual' ? 'publishing' : 'scheduled'
  const isReturned = attemptsOf(world, record_id).some(
    (one) => one.external_id !== null || one.state === 'returned' || one.state === 'review',
  )
  if (state === 'unsent') return isReturned ? [waits, 'posted', 'in review'] : [waits]
  return isReturned ? ['approved', 'scheduled', 'publish_failed'] : ['approved']
}

/**
 * What the sender was told decides, where it lived to be told; on a person's word a send that
 * failed leaves the doubt that there was.
 */
const expected = (world: World, attempt: Attempt): StateName[] => {
  const told = world.wires.find(({ request }) => request.attemptId === attempt.id)?.answered
  if (attempt.state === 'doubt') return ['publish_unconfirmed']
  if (world.permitted.has(attempt.id) && attempt.state !== 'posted')
    return ['publish_unconfirmed', 'in review']
  return told ? follows[told][attempt.origin] : stopped(world, attempt)
}

const checkAnswered = (world: World, id: string, to: StateName, hold: Hold): void => {
  const attempt = attemptsOf(world, id).toSorted((one, other) => other.number - one.number)[0]!
  if (attempt.state === 'open') return
  world.underWay.delete(id)
  hold(
    expected(world, attempt).includes(to),
    `is ${to} after an attempt that ended as ${attempt.state}`,
  )
}

const OPEN: Partial<Record<StateName, [least: number, most: number]>> = {
  publishing: [0, 1],
  publish_unconfirmed: [1, 1],
  'in review': [1, 1],
}

/**
 * A state that only the machine leads out of has a row of work that will; what rests has none that
 * sends.
 */
const checkWork = ({ memory }: World, id: string, to: StateName, hold: Hold): void => {
  const own = [...memory.works.values()].filter(({ ref_id }) => ref_id === id)
  const send = own.find(({ kind }) => kind === 'send')
  if (to === 'publishing') hold(send !== undefined, 'is publishing, and nothing will send it')
  else if (to === 'scheduled')
    hold(send?.origin === 'automatic', 'is scheduled, and nothing will send it')
  else if (to === 'publish_unconfirmed')
    hold(own.length > 0, 'is in doubt, and nothing will look for it')
  else if (to !== 'in review') hold(send === undefined, `is ${to}, and would still be sent`)
}

const checkEvents = ({ memory }: World, id: string, to: StateName, hold: Hold): void => {
  const told = (type: string) =>
    memory.events.filter((event) => event.type === type && event.data.item_id === id).length
  hold(
    told('growth.item.posted') === (to === 'posted' ? 1 : 0),
    `is ${to}, with ${told('growth.item.posted')} events growth.item.posted`,
  )
  if (to === 'in review')
    hold(told('growth.approval.requested') > 0, 'is in review, and nobody was called')
}

/** Of an item that nobody has changed past every command. */
export const checkItem = (world: World, item: Item, hold: Hold): void => {
  const { id } = item
  const to = stateName(item)
  count(world, `item ${to}`)
  if (world.underWay.has(id)) checkAnswered(world, id, to, hold)
  checkEvents(world, id, to, hold)
  const open = attemptsOf(world, id).filter(isOpen).length
  const [least, most] = OPEN[to] ?? [0, 0]
  hold(open >= least && open <= most, `is ${to}, with ${open} open attempts`)
  if (!world.edited.has(id)) checkWork(world, id, to, hold)
}

/** What a person can do about each state that the machine leaves an item in. */
export const wayOut: Partial<Record<StateName, 'reject' | 'mark posted'>> = {
  drafted: 'reject',
  approved: 'mark posted',
  publish_failed: 'reject',
  'in review': 'mark posted',
}

/** Once a person has said the last word on every item, all is over. */
export const checkOver = (world: World): void => {
  for (const item of world.memory.items.values()) {
    const state = stateName(item)
    if (world.memory.deleted.has(item.id)) continue
    if (state !== 'posted' && state !== 'rejected')
      world.broken.push(`${item.id}: cannot be settled, being ${state}`)
    if (attemptsOf(world, item.id).some(isOpen))
      world.broken.push(`${item.id}: is settled, and an attempt is open`)
  }
}
