/**
 * The processes of a world: each with the real actor and lanes, on the simulated database, network
 * and clock.
 */

import { newHoldWatch, newTrouble } from '#actors/engine/deps'
import type { Letter } from '#actors/engine/letter'
import { TenantActor } from '#actors/engine/tenant'
import { reconcileLane } from '#actors/work/growth/reconcile'
import { sendLane } from '#actors/work/growth/send'
import { gateHook } from '#decisions/gate'
import { consequences } from '#decisions/growth/follow-up'
import { workTable } from '#decisions/work'
import { sendTimes as times } from '#domain/growth/sending/times'
import type { Clock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Log } from '#kernel/log'
import type { AwaitedResult, CommandContext, Decides, HandlerResult } from '#ops/engine/call'
import { networksOf } from '#port/network/registry'
import type { Db } from '#store/engine/db'
import { loadNow } from '#store/engine/load'
import { settle } from './clock.ts'
import { type Commanded, letter } from './memory.ts'
import { simulatedNetwork } from './network.ts'
import { checkRefusal } from './rules.ts'
import { recalls } from './taking-back.ts'
import { count, type Node, reach, type World } from './world.ts'

export const TENANT = 'tenant'
const REPLY_WITHIN_MS = 20_000

const never = (): Promise<never> => new Promise(() => {})

/** Its timers belong to the process: they do not wake a dead one, and they wait while it hangs. */
const clockOf = ({ clock }: World, node: Node): Clock => ({
  monotonic: () => clock.monotonic(),
  after(ms, wake) {
    let isArmed = true
    const timer = clock.after(ms, () => reach(node, () => isArmed && wake()))
    return {
      [Symbol.dispose]() {
        isArmed = false
        timer[Symbol.dispose]()
      },
    }
  },
})

/**
 * Counts what fails, and how often. What fails by a mistake, as by a statement that nobody
 * simulates, breaks the history.
 */
const logOf = (world: World): Log => {
  const error = ({ err }: { err?: unknown }, message: string) => {
    count(world, `log ${message}`)
    if (message === 'a letter failed' && !(err instanceof AppError))
      world.broken.push(`a letter failed: ${err}`)
  }
  return { error, warn: error } as unknown as Log
}

const newNode = (world: World, own: { tenantId: string; owner: string; epoch: number }): Node => {
  const node = {
    owner: own.owner,
    state: 'alive',
    backlog: [],
    hasHung: false,
    isFenced: false,
    promises: world.promises,
    seen: new Map(),
  } as unknown as Node
  const networks = networksOf(simulatedNetwork(world, node))
  node.networks = networks
  const failpoints = (name: string): Promise<void> | undefined =>
    name === 'send.claimed' && world.holding
      ? new Promise((goOn) => world.held.push({ node, goOn: () => reach(node, goOn) }))
      : undefined
  const decide = (_: string, body: never) =>
    node.state === 'alive' ? letter(world.memory, node.owner, body) : never()
  const lanes = [
    sendLane({ networks, times, failpoints }),
    reconcileLane({ networks, times, failpoints }),
  ]
  const deps = {
    clock: clockOf(world, node),
    log: logOf(world),
    failpoints,
    lanes,
    kinds: workTable,
    gate: gateHook,
    consequences,
    hold: newHoldWatch(),
    trouble: newTrouble(clockOf(world, node), { loop: neverBusy }),
    replyWithinMs: REPLY_WITHIN_MS,
  }
  node.actor = new TenantActor(
    own,
    { ...deps, db: { letter: decide, hurry: () => {}, urgent: () => {} } as unknown as Db },
    () => {
      node.isFenced = true
      count(world, 'owner met the fence')
    },
  )
  return node
}

/** A process takes the workspace over from its owner. */
export const takeOver = (world: World): void => {
  const own = { tenantId: TENANT, owner: newId(), epoch: world.memory.epoch + 1 }
  world.memory.owner = own.owner
  world.memory.epoch = own.epoch
  world.node = newNode(world, own)
  world.node.actor.activate()
}

/** In a simulation nothing takes long. */
const neverBusy = { busyIn: () => 0, [Symbol.dispose]: () => {} }

/** The owner dies; whatever it was waiting for never arrives. */
export const die = (world: World): void => {
  const { node } = world
  node.state = 'dead'
  world.held = world.held.filter((one) => one.node !== node)
}

/**
 * The owner hangs: its timers, its answers and what it has begun stand still until it wakes.
 * Another process takes over.
 */
export const hang = (world: World): void => {
  world.node.state = 'hung'
  world.hung.push(world.node)
  takeOver(world)
}

/**
 * The process that has hung longest continues where it was, and finds out only by itself that it no
 * longer owns anything.
 */
export const wake = (world: World): void => {
  const node = world.hung.shift()
  if (!node) return
  count(world, 'owner woke as a former one')
  node.state = 'alive'
  node.hasHung = true
  for (const happen of node.backlog.splice(0)) {
    happen()
    settle()
  }
}

type Handled = Promise<HandlerResult<unknown> | AwaitedResult>

/** Decides as a command's letter does, with the records that its handler loads. */
export const handled = async <I, R>(
  decides: Decides<I, R>,
  input: I,
  context: CommandContext,
): Promise<R> =>
  'decide' in decides
    ? decides.decide(
        input,
        context,
        (await loadNow(context.sql, decides.load(input, context))) as never,
      )
    : decides(input, context)

/** As in the contract. */
const isUrgent = ({ name }: Commanded): boolean => name === 'pause' || name === 'disconnect'

/** Asks the owner; nobody waits for the answer, but a 200 to post-now must be true. */
export const ask = (
  world: World,
  command: Commanded,
  handle: (context: CommandContext) => Handled,
): void => {
  const { networks } = world.node
  const asked: Letter<unknown> = {
    name: command.name,
    priority: isUrgent(command) ? 'control' : 'interactive',
    alone: isUrgent(command) || recalls(command.name),
    provenance: { principal: { kind: 'session', id: 'person' }, surface: 'rest' },
    async decide(sql, gate, lanes) {
      world.memory.command = command
      try {
        const outcome = await handle({
          tenantId: TENANT,
          sql,
          gate,
          lanes,
          networks,
          principal: asked.provenance.principal,
        })
        count(world, `done ${command.name}`)
        return 'awaits' in outcome ? { reply: undefined, ...outcome } : outcome
      } catch (cause) {
        count(world, `refused ${command.name}`)
        checkRefusal(world, command, cause)
        throw cause
      }
    },
    late: async () => undefined,
  }
  world.node.actor.ask(asked).then(
    (reply) => {
      const wasPosted = (reply as { status?: number } | undefined)?.status === 200
      const { items, engagements } = world.memory
      const status = (items.get(command.id!) ?? engagements.get(command.id!))?.status
      if (wasPosted && status !== 'posted' && status !== 'executed')
        world.broken.push(`${command.id}: answered as posted, and is not`)
    },
    () => {},
  )
}
