/**
 * What the workspace does with posts of others: the machine that posts items does this too, and the
 * two may meet at every step.
 */
import {
  type EngageAction,
  type Engagement,
  newEngagement,
} from '#domain/growth/drafting/engagement'
import { engagementStates } from '#domain/growth/drafting/engagement-states'
import type { Attempt } from '#domain/growth/sending/attempt'
import { sendTimes as times } from '#domain/growth/sending/times'
import type { EngageRequest, Network, NetworkAccount } from '#port/network/network'
import { NetworkError } from '#port/network/network'
import { at } from '#test/domain/records'
import { checkDecided, checkRefused, decidedStates } from './engagement-life.ts'
import type { Commanded } from './memory.ts'
import { isOpen } from './memory.ts'
import { attemptMoves, PROVEN } from './outcome.ts'
import { count, type Node, nowOf, SKEW_MS, type World } from './world.ts'

/** Of the reply; the first one is what it has at the beginning. */
export const replies = ['We call first.', 'We call before we are late.', 'We never call.']

/** One post is liked and reposted, another one liked and answered. */
const wishes: [action: EngageAction, post: string, body: string | null][] = [
  ['like', 'theirs-1', null],
  ['repost', 'theirs-1', null],
  ['like', 'theirs-2', null],
  ['reply', 'theirs-2', replies[0]!],
]

export const engagements: Engagement[] = wishes.map(([action, post_id, body], index) => {
  const post = {
    network: 'simulated',
    post_id,
    post_url: null,
    post_author: null,
    post_text: null,
    addresses_us: false,
  }
  const wish = { ...post, action, instruction: null, body, signal_id: null }
  const rule = { measure: (text: string) => text.length, maxLength: 280 }
  const source = { source_kind: 'system', source_id: null } as const
  const how = { rule, source, by: null, now: at() }
  return newEngagement(`engagement-${index}`, wish, how).engagement
})
export const engagementIds = engagements.map(({ id }) => id)
/** The reply. */
export const WRITTEN = engagementIds.at(-1)!

const engagementOf = ({ memory }: World, id: string): Engagement => memory.engagements.get(id)!
const attemptsOf = ({ memory }: World, id: string): Attempt[] =>
  [...memory.attempts.values()].filter(({ record_id }) => record_id === id)

/** A request goes onto the wire; gives the engagement that it is for. */
export const checkEngage = (
  world: World,
  node: Node,
  { attemptId, account, text = '' }: EngageRequest,
): string => {
  const attempt = world.memory.attempts.get(attemptId)
  const id = attempt?.record_id ?? 'unknown'
  const hold = (holds: boolean, words: string): void =>
    void (holds || world.broken.push(`${id}: ${words}`))
  hold(attempt !== undefined, 'done without an attempt')
  if (!attempt) return id
  for (const { itemId, from, request, answered, fate, at: before } of world.wires) {
    if (from === node && request.account.id === attempt.connection_id)
      hold(answered !== undefined, 'done beside another send of the account that has no answer yet')
    if (itemId !== id) continue
    hold(
      fate.appliesInMs === null && answered !== undefined && answered in PROVEN,
      'done a second time, though the first may have been',
    )
    hold((world.asked.get(id) ?? 0) >= before, 'done again, and nobody has asked for that')
  }
  hold(!node.isFenced, 'done by a process that knows that it owns nothing any more')
  const approval = world.approvals.get(id)
  hold(approval?.body === text, `done with a text that nobody approved: ${text}`)
  // A process that lost the workspace may send until its lease ends, even what a person settles in
  // these seconds.
  const isByHand = world.marked.has(id) && ['posted', 'superseded'].includes(attempt.state)
  hold(
    isByHand || ['open', 'doubt'].includes(attempt.state),
    `done by an attempt that is ${attempt.state}`,
  )
  hold(
    nowOf(world) + times.deadlineMs <= +attempt.lease_until,
    'done so late that its lease may end first',
  )
  hold(
    world.left.get(account.externalId)?.has(attemptId) ?? true,
    'done by an account that was disconnected before',
  )
  count(world, 'engaged on the wire')
  return id
}

/** What stands on the post after this request. */
export const react = (
  world: World,
  { account, postId, action, text }: EngageRequest,
  { id, appliesInMs }: { id: string; appliesInMs: number },
): string => {
  const externalId = text === undefined ? postId : `reply-${world.reactions.length + 1}`
  const createdAt = nowOf(world) + appliesInMs + SKEW_MS
  world.reactions.push({
    id,
    account: account.externalId,
    postId,
    action,
    createdAt,
    externalId,
    text,
  })
  return externalId
}

/** The replies that the timeline of an account shows. */
export const repliesSeen = (
  world: World,
  { externalId: account }: NetworkAccount,
  { since, lagMs }: { since: Date; lagMs: number },
) =>
  world.reactions.flatMap(({ text, externalId, postId, createdAt, ...one }) =>
    text !== undefined &&
    one.account === account &&
    createdAt >= +since &&
    createdAt - SKEW_MS <= nowOf(world) - lagMs
      ? [
          {
            externalId,
            text,
            truncated: false,
            createdAt: new Date(createdAt),
            url: null,
            inReplyTo: postId,
          },
        ]
      : [],
  )

/**
 * The post as the network shows it now: what was done to it, or nothing of that where a read is
 * incomplete.
 */
export const readReactions = async (
  world: World,
  account: NetworkAccount,
  postId: string,
): ReturnType<Network['readPost']> => {
  const { fails, lagMs } = world.view
  world.readWhole.set(`${account.id} posts`, fails === 'no')
  if (fails === 'error') throw new NetworkError('unreachable', 'no answer', 5_000)
  const shown = world.reactions.filter(
    (one) =>
      one.account === account.externalId &&
      one.postId === postId &&
      one.createdAt - SKEW_MS <= nowOf(world) - lagMs,
  )
  return { ...(fails === 'no' ? { done: shown.map(({ action }) => action) } : {}) } as Awaited<
    ReturnType<Network['readPost']>
  >
}

/** Where the machine may lead an engagement. */
const machine: Record<string, string[]> = {
  executing: ['executing', 'executed', 'execute_failed', 'execute_unconfirmed', 'approved'],
  execute_unconfirmed: ['execute_unconfirmed', 'execute_unconfirmed (in review)', 'executed'],
  'execute_unconfirmed (in review)': ['execute_unconfirmed (in review)', 'executed'],
}
const doubtful = ['execute_unconfirmed', 'execute_unconfirmed (in review)']

export const checkEngagement = (
  world: World,
  [before, after]: [Engagement, Engagement],
  command: Commanded | undefined,
): void => {
  const { id } = after
  const [from, to] = [engagementStates.stateOf(before), engagementStates.stateOf(after)]
  const isAsked = command?.id === id
  const allowed = isAsked ? decidedStates(command.name, from) : (machine[from] ?? [])
  const hold = (holds: boolean, words: string): void =>
    void (holds || world.broken.push(`${id}: ${words}`))
  hold(allowed.includes(to), `${isAsked ? command.name : 'the machine'} led from ${from} to ${to}`)
  count(world, `engagement ${to}`)
  if (isAsked && command.name === 'execute') world.asked.set(id, nowOf(world))
  if (isAsked && doubtful.includes(from)) world.marked.add(id)
  if (isAsked) checkDecided(world, after, { from, to, command })
  const open = attemptsOf(world, id).filter(isOpen).length
  const most = doubtful.includes(to) || to === 'executing' ? 1 : 0
  hold(
    open <= most && (open === 1 || !doubtful.includes(to)),
    `is ${to}, with ${open} open attempts`,
  )
  const works = [...world.memory.works.values()].filter(({ ref_id }) => ref_id === id)
  if (to === 'executing')
    hold(
      works.some(({ kind }) => kind === 'send'),
      'is executing, and nothing will do it',
    )
  if (to === 'execute_unconfirmed')
    hold(works.length > 0, 'is in doubt, and nothing will look for it')
}

export const checkEngagementAttempt = (
  world: World,
  before: Attempt | undefined,
  after: Attempt,
): void => {
  const hold = (holds: boolean, words: string): void =>
    void (holds || world.broken.push(`${after.record_id}: ${words}`))
  if (!before) {
    hold(
      after.state === 'open' && after.origin === 'manual',
      `claimed as ${after.state}, ${after.origin}`,
    )
    return
  }
  hold(
    attemptMoves[before.state].includes(after.state),
    `an attempt that was ${before.state} became ${after.state}`,
  )
  hold(after.state !== 'returned', 'a doubt about it ended by itself')
  if (after.clean_reads > before.clean_reads)
    hold(
      world.readWhole.get(`${after.connection_id}${after.sent_text === null ? ' posts' : ''}`) ===
        true,
      'counted as not there by a read that did not show everything',
    )
}

/** A command on an engagement was refused. */
export const checkEngagementRefusal = (world: World, command: Commanded, cause: unknown): void =>
  checkRefused(world, command, {
    cause,
    state: engagementStates.stateOf(engagementOf(world, command.id!)),
  })

const RESTING = [
  'drafted',
  'approved',
  'executed',
  'rejected',
  'execute_failed',
  'execute_unconfirmed (in review)',
]
const standing = ({ reactions }: World, id: string): number =>
  reactions.filter((one) => one.id === id).length

/** Nothing is left for the machine to do about it. */
export const isEngagementAtRest = (world: World, engagement: Engagement): boolean => {
  const state = engagementStates.stateOf(engagement)
  return (
    RESTING.includes(state) && (!doubtful.includes(state) || standing(world, engagement.id) === 0)
  )
}

/**
 * What stands on the network is executed, and what is executed stands there, unless a person has
 * said what became of it.
 */
export const checkEngagements = (world: World): void => {
  for (const engagement of world.memory.engagements.values()) {
    const { id, status } = engagement
    const [state, times_] = [engagementStates.stateOf(engagement), standing(world, id)]
    const hold = (holds: boolean, words: string): void =>
      void (holds || world.broken.push(`${id}: ${words}`))
    hold(isEngagementAtRest(world, engagement), `left ${state}, standing ${times_} times`)
    hold(times_ <= 1, `stands ${times_} times`)
    if (world.marked.has(id)) continue
    hold((status === 'executed') === (times_ === 1), `is ${state}, standing ${times_} times`)
  }
}
