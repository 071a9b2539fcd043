/**
 * Everything that may happen, one entry each: how often, with what, and what it does. A new action
 * is a new entry here, and where it is a command of a person on an item also a column of the state
 * table (test/domain/transitions.ts).
 */
import type { Letter } from '#actors/engine/letter'
import type { CommandContext, HandlerResult } from '#ops/engine/call'
import { automationHandlers } from '#ops/growth/automation'
import { connectionHandlers, connectionsHandlers } from '#ops/growth/connections'
import { connectAccount } from '#ops/operator/admin/workspaces'
import { HOUR, MINUTE, stateName } from '#test/domain/records'
import { type Action, action, plain } from './action.ts'
import { engagementActions } from './actions-of-engagements.ts'
import { approve, DUE_IN, itemActions, policy, schedule } from './actions-of-items.ts'
import {
  AMBIGUOUS,
  among,
  failures,
  fateNamed,
  histories,
  type Next,
  type Step,
  someFate,
  TELLING,
  type View,
} from './history.ts'
import { ask, die, handled, hang, TENANT, takeOver, wake } from './nodes.ts'
import { wayOut } from './outcome.ts'
import { recallable } from './taking-back.ts'
import { bodies } from './texts.ts'
import { way } from './ways.ts'
import { count, itemIds, itemOf, nowOf, type World } from './world.ts'

/**
 * What may still go out after a pause is what its answer says, and nothing that could be called
 * back.
 */
const pause = async (world: World, context: CommandContext): Promise<HandlerResult<unknown>> => {
  const own = recallable(world, context)
  const { memory, announced } = world
  const outcome = await handled(automationHandlers.pauseAll, {}, context)
  if (!memory.paused) announced.clear()
  for (const { item_id, engagement_id, since } of outcome.reply.automation.in_flight as {
    item_id?: string
    engagement_id?: string
    since: Date
  }[])
    for (const attempt of memory.attempts.values())
      if (
        attempt.record_id === (item_id ?? engagement_id) &&
        +attempt.intent_at === +since &&
        !own.has(attempt.id)
      )
        announced.add(attempt.id)
  if (announced.size > 0) count(world, 'pause announced what may still go out')
  return outcome
}

/**
 * Only what another process has claimed may still go out from an account that a person has
 * disconnected.
 */
const disconnect = async (
  world: World,
  context: CommandContext,
): Promise<HandlerResult<unknown>> => {
  const own = recallable(world, context)
  const outcome = await handled(connectionHandlers.disconnect, {}, context)
  const { external_id } = world.memory.connections.get(outcome.refId!)!
  world.left.set(
    external_id,
    new Set([...world.memory.attempts.keys()].filter((id) => !own.has(id))),
  )
  return outcome
}

export const connect = (world: World, { account }: { account: string }): void => {
  const reached = { network: 'simulated', externalId: account, handle: account }
  const { actor } = world.node
  const decided = <R>(asked: Letter<R>): Letter<R> => ({
    ...asked,
    decide(...given) {
      world.left.delete(account)
      return asked.decide(...given)
    },
  })
  connectAccount({ ask: (_, asked) => actor.ask(decided(asked)) }, TENANT, reached).catch(() => {})
}

export const resume = (world: World): void =>
  ask(world, { name: 'resume' }, (context) => handled(automationHandlers.resumeAll, {}, context))

const STOP_MS = 5_000

/** As on SIGTERM: what is not on the wire stops, then another process takes over. */
const stop = (world: World): void => {
  void world.node.actor.stop(STOP_MS)
  world.clock.advance(STOP_MS)
  die(world)
  takeOver(world)
}

const postByHand = (world: World, { account, body }: { account: string; body: string }): void => {
  const externalId = `post-${world.posts.length + 1}`
  world.posts.push({ externalId, account, text: body, createdAt: nowOf(world), itemId: null })
}

interface Sending {
  fate: string
  which: 'first' | 'last' | 'all'
}

/** The lane that has waited longest before its send, or the last one, or all of them, go on. */
const send = (world: World, { fate, which }: Sending): void => {
  world.fate = fateNamed(fate)
  const { held } = world
  const one = which === 'last' ? held.splice(-1) : held.splice(0, which === 'all' ? held.length : 1)
  for (const { node, goOn } of one) {
    count(world, node.state === 'hung' ? 'network released while hung' : `network ${fate}`)
    goOn()
  }
}

const view = (next: Next): View => ({
  fails: among(['no', 'no', 'no', 'incomplete', 'error'], next),
  lagMs: among([0, 0, 2_000, 40_000], next),
  cutAt: among([null, null, TELLING, AMBIGUOUS], next),
})

const WAITS = [100, 1_000, 5_000, 11_000, 11_000, 20_000, 40_000, 70_000]
const LONG_WAITS = [11 * MINUTE, 11 * MINUTE, HOUR + 2 * MINUTE]

const accounts = ['one', 'two']
const onAccount = (next: Next) => ({ account: among(accounts, next) })
/** Of one text, and of none that an item has. */
const byHand = [bodies[3]!, bodies[0]!, 'Nobody but me wrote this.']

const actions: Record<string, Action> = {
  ...itemActions,
  ...engagementActions,
  pause: plain(1.5, (world) => ask(world, { name: 'pause' }, (context) => pause(world, context))),
  /** Asked while another letter is being written. */
  'pause meanwhile': plain(1, (world) => {
    world.memory.meanwhile = () => {
      world.memory.pauseWaits = true
      actions.pause!.happen(world, { do: 'pause' })
    }
  }),
  resume: plain(2, resume),
  disconnect: plain(0.8, (world) =>
    ask(world, { name: 'disconnect' }, (context) => disconnect(world, context)),
  ),
  connect: action(1.5, onAccount, connect),
  default: action(0.7, onAccount, (world, { account }) =>
    ask(world, { name: 'default' }, (context) =>
      handled(connectionsHandlers.setDefault, { id: `connection-${account}` }, context),
    ),
  ),
  /** All at once: approved, and due at one moment. */
  burst: action(
    1.5,
    (next) => ({ inMs: among(DUE_IN, next), onMissed: policy(next) }),
    (world, { inMs, onMissed }) => {
      for (const item of itemIds) approve(world, { item })
      for (const item of itemIds) schedule(world, { item, inMs, onMissed })
    },
  ),
  crash: plain(1.5, (world) => {
    die(world)
    takeOver(world)
  }),
  /** The former owner goes on, not knowing. */
  takeover: plain(1.2, takeOver),
  hang: plain(1.2, hang),
  wake: plain(2, wake),
  stop: plain(0.7, stop),
  send: action(
    12,
    (next) => ({
      fate: someFate(next),
      which: among(['first', 'first', 'first', 'last', 'all'] as const, next),
    }),
    send,
  ),
  'post by hand': action(
    0.5,
    (next) => ({ ...onAccount(next), body: among(byHand, next) }),
    postByHand,
  ),
  see: action(
    1,
    (next) => ({ view: view(next) }),
    (world, carried) => {
      world.view = carried.view
    },
  ),
  /** The process is started again, with other settings of the network. */
  promise: action(
    0.6,
    (next) => ({ promises: next() < 0.5 }),
    (world, { promises }) => {
      world.promises = promises
      stop(world)
    },
  ),
  'break database': action(
    1.2,
    (next) => ({ letters: failures(3, next) }),
    (world, { letters }) => void world.memory.failures.push(...letters),
  ),
  wait: action(
    10,
    (next) => ({
      ms: among(next() < 0.02 ? LONG_WAITS : WAITS, next),
    }),
    (world, { ms }) => world.clock.advance(ms),
  ),
}

/** The last word of a person on every item. */
export const settleByHand = (world: World): void => {
  for (const item of itemIds) {
    if (world.memory.deleted.has(item)) continue
    const command = wayOut[stateName(itemOf(world, item))]
    if (command) actions[command]!.happen(world, { do: command, item })
  }
}

export const historyFrom = histories(actions, { share: 0.25, make: way })

export const perform = (world: World, step: Step): void => {
  count(world, `step ${step.do}`)
  actions[step.do]!.happen(world, step)
}
