/** What must hold: of every request on the wire, of every commit, and in the end. */
import type { Item } from '#domain/growth/drafting/item'
import type { Attempt, AttemptState } from '#domain/growth/sending/attempt'
import { sendTimes as times } from '#domain/growth/sending/times'
import { AppError } from '#kernel/errors'
import type { PublishRequest } from '#port/network/network'
import { type StateName, stateName } from '#test/domain/records'
import { type Command, transitions } from '#test/domain/transitions'
import { checkDoubted, permitOf } from './again.ts'
import { checkEngagement, checkEngagementAttempt, checkEngagementRefusal } from './engaging.ts'
import { checkKeys } from './keys.ts'
import type { Changes, Commanded } from './memory.ts'
import { checkItem, PROVEN } from './outcome.ts'
import { checkAfterReturn } from './returning.ts'
import { checkAttempt } from './rules-of-attempts.ts'
import { checkWithdrawn, isRefusedRightly, withdrawn } from './taking-back.ts'
import { count, type Hold, itemOf, must, type Node, nowOf, type World } from './world.ts'

/** What went out before, for the same item and from the same process. */
const checkEarlier = (
  world: World,
  node: Node,
  { attempt, hold }: { attempt: Attempt; hold: Hold },
): void => {
  const permit = permitOf(world, attempt, hold)
  for (const { itemId, fate, answered, at, request, from } of world.wires) {
    if (from === node && request.account.id === attempt.connection_id)
      hold(answered !== undefined, 'sent beside another post of the account that has no answer yet')
    if (itemId !== attempt.record_id) continue
    // A person has asked for it, and the timeline that was read since does not show it.
    if (permit && at <= permit.readAt) continue
    const earlier = world.memory.attempts.get(request.attemptId)
    if (earlier?.state === 'returned') {
      checkAfterReturn(world, earlier, { fate, attempt, node, hold })
      continue
    }
    const wait = answered === undefined ? undefined : PROVEN[answered]
    hold(
      fate.appliesInMs === null && wait !== undefined,
      'sent a second time, though the first may have reached the network',
    )
    const isAskedAgain = (world.asked.get(itemId) ?? 0) >= at
    const mayRetry = attempt.origin === 'automatic' && nowOf(world) >= at + (wait ?? 0)
    hold(isAskedAgain || mayRetry, `sent again too soon after ${answered}`)
  }
}

/** A request goes onto the wire; gives the item that it is for. */
export const checkWire = (
  world: World,
  node: Node,
  { attemptId, account, text }: PublishRequest,
): string => {
  const attempt = world.memory.attempts.get(attemptId)
  const id = attempt?.record_id ?? 'unknown'
  const hold: Hold = (holds, words) => must(world, holds, `${id}: ${words}`)
  if (!attempt) {
    hold(false, 'sent without an attempt')
    return id
  }
  checkEarlier(world, node, { attempt, hold })
  hold(!node.isFenced, 'sent by a process that knows that it owns nothing any more')
  const approval = world.approvals.get(id)
  hold(approval?.body === text, `sent a text that nobody approved: ${text}`)
  if (approval) approval.account ??= account.externalId
  hold(
    approval?.account === account.externalId,
    `sent from another account than was approved: ${account.externalId}`,
  )
  hold(
    nowOf(world) + times.deadlineMs <= +attempt.lease_until,
    'sent so late that its lease may end first',
  )
  // A process that lost the workspace may send until its lease ends, even what a person settles in
  // these seconds.
  const isByHand = attempt.state === 'posted' && world.marked.has(id)
  hold(
    isByHand || ['open', 'doubt'].includes(attempt.state),
    `sent by an attempt that is ${attempt.state}`,
  )
  const mayGoOut =
    attempt.origin === 'manual' || !world.memory.paused || world.announced.has(attemptId)
  hold(mayGoOut, 'sent unattended after the pause, and not in flight by its answer')
  hold(
    world.left.get(account.externalId)?.has(attemptId) ?? true,
    'sent from an account that was disconnected before',
  )
  return id
}

/** While everything unattended is held, the owner reads only about what people asked for. */
export const checkRead = (world: World, node: Node): void => {
  const { paused, owner, works } = world.memory
  const reads = ['reconcile', 'send']
  const isAsked = [...works.values()].some(
    ({ kind, state, origin }) => reads.includes(kind) && state === 'running' && origin === 'manual',
  )
  must(world, !paused || owner !== node.owner || isAsked, 'read unattended after the pause')
}

/** Where the machine may lead an item. */
const moves: Record<StateName, StateName[]> = {
  drafted: [],
  // Posted by what a person made by hand, of the words that were looked for: see checkLetGo.
  approved: ['posted'],
  scheduled: ['publishing', 'approved', 'drafted', 'posted'],
  publishing: [
    'publishing',
    'posted',
    'publish_failed',
    'publish_unconfirmed',
    'in review',
    'approved',
    'scheduled',
    'drafted',
  ],
  posted: ['posted'],
  rejected: [],
  publish_failed: ['posted'],
  // Onto the wire again only on a person's word: see checkSuperseded.
  publish_unconfirmed: ['publish_unconfirmed', 'posted', 'in review', 'publishing', 'approved'],
  'in review': ['in review', 'posted', 'publishing'],
}

const record = (world: World, item: Item, command: Commanded | undefined): void => {
  if (command?.name === 'approve') {
    world.approvals.set(item.id, { body: item.body, account: item.account_external_id })
    world.edited.delete(item.id)
  } else if (item.status === 'drafted' || item.status === 'rejected')
    world.approvals.delete(item.id)
  if (command && ['schedule', 'post', 'post again'].includes(command.name))
    world.asked.set(item.id, nowOf(world))
  if (command?.name === 'post again')
    world.confirmed.set(item.id, { at: nowOf(world), spent: false })
  if (command?.name === 'mark posted') world.marked.add(item.id)
}

/** Out of doubt only by its own end, and out of rest only by the late hit of what was returned. */
const checkLetGo = (
  world: World,
  { id, from, to }: { id: string; from: StateName; to: StateName },
  attempts: Changes['attempts'],
): void => {
  const became = (was: AttemptState, is: AttemptState): boolean =>
    attempts.some(
      ([before, after]) => after.record_id === id && before?.state === was && after.state === is,
    )
  if (from === 'publish_unconfirmed' && to === 'approved')
    must(world, became('doubt', 'returned'), `${id}: let go, being in doubt`)
  if (to !== 'posted' || !['approved', 'scheduled', 'publish_failed', 'posted'].includes(from))
    return
  must(world, became('returned', 'posted'), `${id}: posted, being ${from}`)
  count(world, 'returned found by hand')
}

/**
 * Every change of an item is one that the state table knows, and every change of an attempt one of
 * the machine.
 */
export const checkCommit = (
  world: World,
  { items, attempts, engagements }: Changes,
  command: Commanded | undefined,
): void => {
  for (const one of engagements) checkEngagement(world, one, command)
  for (const [previous, item] of items) {
    const { id } = item
    const [from, to] = [stateName(previous), stateName(item)]
    const own = command?.id === id ? command.name : undefined
    const allowed: string[] =
      own === undefined
        ? moves[from]
        : (withdrawn(own, from) ?? [transitions[from][own as Command]])
    must(
      world,
      allowed.includes(to),
      `${id}: ${command?.id === id ? command.name : 'the machine'} led from ${from} to ${to}`,
    )
    const isStale = command?.id !== id && to === 'drafted'
    must(world, !isStale || world.edited.has(id), `${id}: taken for another than was approved`)
    if (command?.id !== id) checkLetGo(world, { id, from, to }, attempts)
    if (own !== undefined)
      checkWithdrawn(world, { id, from, to, command: own }, (holds, words) =>
        must(world, holds, `${id}: ${words}`),
      )
    record(world, item, command)
  }
  for (const [before, after] of attempts)
    (after.sendable === 'post' ? checkAttempt : checkEngagementAttempt)(world, before, after)
  checkKeys(world)
  for (const [, item] of items)
    checkItem(world, item, (holds, words) => must(world, holds, `${item.id}: ${words}`))
  for (const [, { id }] of items)
    checkDoubted(world, id, (holds, words) => must(world, holds, `${id}: ${words}`))
}

/** A person's word for the item is on its way. */
const isPostedAgain = ({ memory }: World, id: string): boolean =>
  [...memory.works.values()].some(
    ({ kind, ref_id, payload }) =>
      ref_id === id && (kind === 'send' || payload.again !== undefined),
  )

/** A command was refused, or its letter failed. */
export const checkRefusal = (world: World, { name, id }: Commanded, cause: unknown): void => {
  if (id !== undefined && world.memory.engagements.has(id)) {
    checkEngagementRefusal(world, { name, id }, cause)
    return
  }
  const code = cause instanceof AppError ? cause.code : String(cause)
  if (id === undefined) {
    must(world, code === 'x_not_connected' || code === 'conflict', `${name} failed: ${code}`)
    return
  }
  const item = itemOf(world, id)
  const from = stateName(item)
  if (cause instanceof AppError && isRefusedRightly(world, { name, id, from }, cause)) return
  const cell = transitions[stateName(item)][name as Command]
  const isUnderWay = name === 'post again' && isPostedAgain(world, id)
  const expected = cell === '409' || isUnderWay ? 'conflict' : 'x_not_connected'
  must(
    world,
    code === expected && (cell === '409' || name.startsWith('post')),
    `${id}: ${name} was refused with ${code}, being ${stateName(item)}`,
  )
}
