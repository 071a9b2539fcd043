/** What must hold: of every request on the wire, of every commit, and in the end. */
import type { Item } from '#domain/item'
import { publishTimes as times } from '#domain/publish'
import { AppError } from '#kernel/errors'
import type { PublishRequest } from '#port/network/network'
import { fingerprintText } from '#port/network/text'
import { type StateName, stateName } from '#test/domain/records'
import { type Command, transitions } from '#test/domain/transitions'
import type { Commanded } from './memory.ts'
import { itemOf, nowOf, type World } from './world.ts'

/** What must be so; otherwise the history has failed with these words. */
const must = (world: World, holds: boolean, words: string): void => {
  if (!holds) world.broken.push(words)
}

const PROVEN = ['refused', 'rate_limited', 'unreachable', 'disconnected']

/** A request goes onto the wire; gives the item that it is for. */
export const checkWire = (world: World, { attemptId, account, text }: PublishRequest): string => {
  const attempt = world.memory.attempts.get(attemptId)
  const id = attempt?.item_id ?? 'unknown'
  const hold = (holds: boolean, words: string) => must(world, holds, `${id}: ${words}`)
  if (!attempt) {
    hold(false, 'sent without an attempt')
    return id
  }
  const earlier = world.wires.filter((wire) => wire.itemId === id)
  hold(
    earlier.every(({ answered, fate }) => fate.appliesInMs === null && answered !== undefined && PROVEN.includes(answered)),
    'sent a second time, though the first may have reached the network',
  )
  const approval = world.approvals.get(id)
  hold(approval?.body === text, `sent a text that nobody approved: ${text}`)
  if (approval) approval.account ??= account.externalId
  hold(approval?.account === account.externalId, `sent from another account than was approved: ${account.externalId}`)
  hold(nowOf(world) + times.deadlineMs <= +attempt.lease_until, 'sent so late that its lease may end first')
  // A process that lost the workspace may send until its lease ends, even what a person settles in these seconds.
  const isByHand = attempt.state === 'posted' && world.marked.has(id)
  hold(isByHand || ['open', 'doubt'].includes(attempt.state), `sent by an attempt that is ${attempt.state}`)
  const mayGoOut = attempt.origin === 'manual' || !world.memory.paused || world.announced.has(attemptId)
  hold(isByHand || mayGoOut, 'sent unattended after the pause')
  hold(world.left.get(account.externalId)?.has(attemptId) ?? true, 'sent from an account that was disconnected before')
  return id
}

/** Where the machine may lead an item. */
const moves: Record<StateName, StateName[]> = {
  drafted: [],
  approved: [],
  scheduled: ['publishing', 'approved', 'drafted'],
  publishing: ['publishing', 'posted', 'publish_failed', 'publish_unconfirmed', 'approved', 'scheduled', 'drafted'],
  posted: [],
  rejected: [],
  publish_failed: [],
  publish_unconfirmed: ['publish_unconfirmed', 'posted', 'in review'],
  'in review': ['in review', 'posted'],
}

const record = (world: World, item: Item, command: Commanded | undefined): void => {
  if (command?.name === 'approve') world.approvals.set(item.id, { body: item.body, account: item.account_external_id })
  else if (item.status === 'drafted' || item.status === 'rejected') world.approvals.delete(item.id)
  if (command?.name === 'mark posted') world.marked.add(item.id)
}

/** Every change of an item is one that the state table knows. */
export const checkCommit = (world: World, before: ReadonlyMap<string, Item>, command: Commanded | undefined): void => {
  for (const [id, item] of world.memory.items) {
    const previous = before.get(id)!
    if (previous === item) continue
    const [from, to] = [stateName(previous), stateName(item)]
    const allowed: string[] = command?.id === id ? [transitions[from][command.name as Command]] : moves[from]
    must(world, allowed.includes(to), `${id}: ${command?.id === id ? command.name : 'the machine'} led from ${from} to ${to}`)
    record(world, item, command)
  }
}

/** A command was refused, or its letter failed. */
export const checkRefusal = (world: World, { name, id }: Commanded, cause: unknown): void => {
  const code = cause instanceof AppError ? cause.code : String(cause)
  if (id === undefined) {
    must(world, code === 'x_not_connected' || code === 'conflict', `${name} failed: ${code}`)
    return
  }
  const item = itemOf(world, id)
  const cell = transitions[stateName(item)][name as Command]
  const expected = cell === '409' ? 'conflict' : 'x_not_connected'
  must(world, code === expected && (cell === '409' || name === 'post'), `${id}: ${name} was refused with ${code}, being ${stateName(item)}`)
}

const RESTING: StateName[] = ['drafted', 'approved', 'posted', 'rejected', 'publish_failed', 'in review']

/** Posts of the item's own sends that no attempt is known to have made. */
const unclaimed = (world: World, id: string) => {
  const taken = new Set([...world.memory.attempts.values()].map((attempt) => attempt.external_id))
  return world.posts.filter((post) => post.itemId === id && !taken.has(post.externalId))
}

const isSettled = (world: World, item: Item): boolean => {
  const state = stateName(item)
  return RESTING.includes(state) && (state !== 'in review' || unclaimed(world, item.id).length === 0)
}

/** Nothing is left for the machine to do about any item. */
export const isAtRest = (world: World): boolean =>
  [...world.memory.items.values()].every((item) => isSettled(world, item)) &&
  [...world.memory.works.values()].every(({ kind, state }) => kind === 'reconcile' && state === 'queued')

const checkPosted = (world: World, item: Item): void => {
  if (world.marked.has(item.id)) return
  const post = world.posts.find(({ externalId }) => externalId === item.external_id)
  const isOurs = post?.account === item.account_external_id && fingerprintText(post.text) === fingerprintText(item.body)
  must(world, isOurs, `${item.id}: posted, but not on the network`)
}

const eventsOf = ({ memory }: World, type: string, id: string): number =>
  memory.events.filter((event) => event.type === type && event.data.item_id === id).length

/** The history is over, and the machine has had all the time it needs. */
export const checkEnd = (world: World): void => {
  for (const [id, item] of world.memory.items) {
    const state = stateName(item)
    must(world, isSettled(world, item), `${id}: left ${state}, with ${unclaimed(world, id).length} posts of its own on the network`)
    if (state === 'posted') checkPosted(world, item)
    else
      must(
        world,
        world.posts.every((post) => post.itemId !== id),
        `${id}: on the network, but ${state}`,
      )
    const posted = eventsOf(world, 'growth.item.posted', id)
    must(world, posted === (state === 'posted' ? 1 : 0), `${id}: ${posted} events growth.item.posted, being ${state}`)
    const open = [...world.memory.attempts.values()].filter((one) => one.item_id === id && ['open', 'doubt', 'review'].includes(one.state))
    must(world, open.length === (state === 'in review' ? 1 : 0), `${id}: ${open.length} attempts are open, being ${state}`)
    must(world, eventsOf(world, 'growth.approval.requested', id) <= 1, `${id}: a person was asked to look more than once`)
  }
  const owned = [...world.memory.items.values()].flatMap(({ external_id }) => external_id ?? [])
  must(world, new Set(owned).size === owned.length, 'two items own one post')
}
