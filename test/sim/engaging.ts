/** What the workspace does with posts of others: the machine that posts items does this too, and the two may meet at every step. */
import { type EngageAction, type Engagement, engagementState, newEngagement } from '#domain/growth/drafting/engagement'
import type { Attempt } from '#domain/growth/sending/attempt'
import { sendTimes as times } from '#domain/growth/sending/times'
import { AppError } from '#kernel/errors'
import type { EngageRequest, Network, NetworkAccount, PublishResult } from '#port/network/network'
import { NetworkError } from '#port/network/network'
import { at } from '#test/domain/records'
import type { Commanded } from './memory.ts'
import { isOpen } from './memory.ts'
import { attemptMoves, PROVEN } from './outcome.ts'
import { count, type Node, nowOf, SKEW_MS, type World } from './world.ts'

/** One post is liked and reposted, another one liked. */
const wishes: [action: EngageAction, post: string][] = [
  ['like', 'theirs-1'],
  ['repost', 'theirs-1'],
  ['like', 'theirs-2'],
]

export const engagements: Engagement[] = wishes.map(([action, post_id], index) => {
  const post = { network: 'simulated', post_id, post_url: null, post_author: null, post_text: null, addresses_us: false }
  const wish = { ...post, action, instruction: null, body: null, signal_id: null }
  return newEngagement(`engagement-${index}`, wish, { rule: { measure: () => 0, maxLength: 280 }, by: null, now: at() }).engagement
})
export const engagementIds = engagements.map(({ id }) => id)

const engagementOf = ({ memory }: World, id: string): Engagement => memory.engagements.get(id)!
const attemptsOf = ({ memory }: World, id: string): Attempt[] => [...memory.attempts.values()].filter(({ record_id }) => record_id === id)

/** A request goes onto the wire; gives the engagement that it is for. */
export const checkEngage = (world: World, node: Node, { attemptId, account }: EngageRequest): string => {
  const attempt = world.memory.attempts.get(attemptId)
  const id = attempt?.record_id ?? 'unknown'
  const hold = (holds: boolean, words: string): void => void (holds || world.broken.push(`${id}: ${words}`))
  hold(attempt !== undefined, 'done without an attempt')
  if (!attempt) return id
  for (const { itemId, from, request, answered, fate, at: before } of world.wires) {
    if (from === node && request.account.id === attempt.connection_id)
      hold(answered !== undefined, 'done beside another send of the account that has no answer yet')
    if (itemId !== id) continue
    hold(fate.appliesInMs === null && answered !== undefined && answered in PROVEN, 'done a second time, though the first may have been')
    hold((world.asked.get(id) ?? 0) >= before, 'done again, and nobody has asked for that')
  }
  hold(!node.isFenced, 'done by a process that knows that it owns nothing any more')
  hold(engagementOf(world, id).approved_hash !== null, 'done, and nobody has approved it')
  hold(nowOf(world) + times.deadlineMs <= +attempt.lease_until, 'done so late that its lease may end first')
  hold(world.left.get(account.externalId)?.has(attemptId) ?? true, 'done by an account that was disconnected before')
  count(world, 'engaged on the wire')
  return id
}

/** What stands on the post after this request. */
export const react = (
  world: World,
  { account, postId, action }: EngageRequest,
  { id, appliesInMs }: { id: string; appliesInMs: number },
) => {
  world.reactions.push({ id, account: account.externalId, postId, action, createdAt: nowOf(world) + appliesInMs + SKEW_MS })
}

/** The post as the network shows it now: what was done to it, or nothing of that where a read is incomplete. */
export const readReactions = async (world: World, account: NetworkAccount, postId: string): ReturnType<Network['readPost']> => {
  const { fails, lagMs } = world.view
  world.readWhole.set(`${account.id} posts`, fails === 'no')
  if (fails === 'error') throw new NetworkError('unreachable', 'no answer', 5_000)
  const shown = world.reactions.filter(
    (one) => one.account === account.externalId && one.postId === postId && one.createdAt - SKEW_MS <= nowOf(world) - lagMs,
  )
  return { ...(fails === 'no' ? { done: shown.map(({ action }) => action) } : {}) } as Awaited<ReturnType<Network['readPost']>>
}

export const doneOf = (result: PublishResult, { postId }: EngageRequest): PublishResult =>
  result.kind === 'posted' ? { ...result, externalId: postId } : result

/** Where people and the machine may lead an engagement. */
const commands: Record<string, Record<string, string>> = {
  'approve engagement': { drafted: 'approved', 'execute_unconfirmed (in review)': 'executed' },
  execute: { approved: 'executing', execute_failed: 'executing' },
  'reject engagement': { drafted: 'rejected', execute_failed: 'rejected', 'execute_unconfirmed (in review)': 'rejected' },
}
const machine: Record<string, string[]> = {
  executing: ['executing', 'executed', 'execute_failed', 'execute_unconfirmed', 'approved'],
  execute_unconfirmed: ['execute_unconfirmed', 'execute_unconfirmed (in review)', 'executed'],
  'execute_unconfirmed (in review)': ['execute_unconfirmed (in review)', 'executed'],
}
const doubtful = ['execute_unconfirmed', 'execute_unconfirmed (in review)']

export const checkEngagement = (world: World, [before, after]: [Engagement, Engagement], command: Commanded | undefined): void => {
  const { id } = after
  const [from, to] = [engagementState(before), engagementState(after)]
  const isAsked = command?.id === id
  const allowed = isAsked ? [commands[command.name]?.[from]] : (machine[from] ?? [])
  const hold = (holds: boolean, words: string): void => void (holds || world.broken.push(`${id}: ${words}`))
  hold(allowed.includes(to), `${isAsked ? command.name : 'the machine'} led from ${from} to ${to}`)
  count(world, `engagement ${to}`)
  if (isAsked && command.name === 'execute') world.asked.set(id, nowOf(world))
  if (isAsked && doubtful.includes(from)) world.marked.add(id)
  const open = attemptsOf(world, id).filter(isOpen).length
  const most = doubtful.includes(to) || to === 'executing' ? 1 : 0
  hold(open <= most && (open === 1 || !doubtful.includes(to)), `is ${to}, with ${open} open attempts`)
  const works = [...world.memory.works.values()].filter(({ ref_id }) => ref_id === id)
  if (to === 'executing')
    hold(
      works.some(({ kind }) => kind === 'send'),
      'is executing, and nothing will do it',
    )
  if (to === 'execute_unconfirmed') hold(works.length > 0, 'is in doubt, and nothing will look for it')
}

export const checkEngagementAttempt = (world: World, before: Attempt | undefined, after: Attempt): void => {
  const hold = (holds: boolean, words: string): void => void (holds || world.broken.push(`${after.record_id}: ${words}`))
  if (!before) {
    hold(after.state === 'open' && after.origin === 'manual', `claimed as ${after.state}, ${after.origin}`)
    return
  }
  hold(attemptMoves[before.state].includes(after.state), `an attempt that was ${before.state} became ${after.state}`)
  hold(after.state !== 'returned', 'a doubt about it ended by itself')
  if (after.clean_reads > before.clean_reads)
    hold(world.readWhole.get(`${after.connection_id} posts`) === true, 'counted as not there by a read that did not show everything')
}

/** A command on an engagement was refused. */
export const checkEngagementRefusal = (world: World, { name, id }: Commanded, cause: unknown): void => {
  const state = engagementState(engagementOf(world, id!))
  const code = cause instanceof AppError ? cause.code : String(cause)
  const expected = commands[name]?.[state] ? 'x_not_connected' : 'conflict'
  if (code !== expected) world.broken.push(`${id}: ${name} was refused with ${code}, being ${state}`)
}

const RESTING = ['drafted', 'approved', 'executed', 'rejected', 'execute_failed', 'execute_unconfirmed (in review)']
const standing = ({ reactions }: World, id: string): number => reactions.filter((one) => one.id === id).length

/** Nothing is left for the machine to do about it. */
export const isEngagementAtRest = (world: World, engagement: Engagement): boolean => {
  const state = engagementState(engagement)
  return RESTING.includes(state) && (!doubtful.includes(state) || standing(world, engagement.id) === 0)
}

/** What stands on the network is executed, and what is executed stands there, unless a person has said what became of it. */
export const checkEngagements = (world: World): void => {
  for (const engagement of world.memory.engagements.values()) {
    const { id, status } = engagement
    const [state, times_] = [engagementState(engagement), standing(world, id)]
    const hold = (holds: boolean, words: string): void => void (holds || world.broken.push(`${id}: ${words}`))
    hold(isEngagementAtRest(world, engagement), `left ${state}, standing ${times_} times`)
    hold(times_ <= 1, `stands ${times_} times`)
    if (world.marked.has(id)) continue
    hold((status === 'executed') === (times_ === 1), `is ${state}, standing ${times_} times`)
  }
}
