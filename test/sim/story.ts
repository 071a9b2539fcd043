/** Runs a history: the real actor, lanes and commands over a simulated database, network and clock. */
import { publishLane } from '#actors/lanes/publish'
import { reconcileLane } from '#actors/lanes/reconcile'
import type { Letter } from '#actors/letter'
import { TenantActor } from '#actors/tenant'
import { publishTimes as times } from '#domain/publish'
import type { Clock } from '#kernel/clock'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import type { Begun, CommandContext, Outcome } from '#ops/call'
import { automationHandlers } from '#ops/growth/automation'
import { connectionHandlers, connectionsHandlers } from '#ops/growth/connections'
import { itemHandlers } from '#ops/growth/items'
import { connectAccount } from '#ops/workspaces'
import { networksOf } from '#port/network/registry'
import type { Db } from '#store/db'
import { bodies } from '#test/domain/posting-commands'
import { HOUR } from '#test/domain/records'
import { settled } from '#test/support/manual-clock'
import { CLEAR, fates, type Step } from './history.ts'
import { type Commanded, letter } from './memory.ts'
import { simulatedNetwork } from './network.ts'
import { checkCommit, checkEnd, checkRefusal, isAtRest } from './rules.ts'
import { itemId, itemOf, type Node, newWorld, nowOf, type World } from './world.ts'

const TENANT = 'tenant'
const log = createLog('silent')
const never = (): Promise<never> => new Promise(() => {})
const STOP_MS = 5_000

/** Ends what a dead process would have waited for. */
const clockOf = ({ clock }: World, node: Node): Clock => ({
  monotonic: () => clock.monotonic(),
  after: (ms, wake) => clock.after(ms, () => node.alive && wake()),
})

/** A process takes the workspace over, from whoever owns it. */
const takeOver = (world: World): void => {
  const { memory } = world
  const own = { tenantId: TENANT, owner: newId(), epoch: memory.epoch + 1 }
  Object.assign(memory, own)
  const node: Node = { alive: true, actor: undefined as unknown as TenantActor }
  const networks = networksOf(simulatedNetwork(world, node))
  const failpoints = (name: string): Promise<void> | undefined =>
    name === 'publish.claimed' && world.holding ? new Promise((goOn) => world.held.push({ node, goOn })) : undefined
  const db = { letter: (_: string, body: never) => (node.alive ? letter(memory, body) : never()) } as unknown as Db
  const lanes = [publishLane({ networks, times, failpoints }), reconcileLane({ networks, times })]
  node.actor = new TenantActor(own, { db, clock: clockOf(world, node), log, failpoints, lanes, replyWithinMs: 20_000 }, () => {})
  node.actor.activate()
  world.node = node
}

type Handled = Promise<Outcome<unknown> | Begun>

/** Asks the owner; nobody waits for the answer, but a 200 to post-now must be true. */
const ask = (world: World, command: Commanded, handle: (context: CommandContext) => Handled): void => {
  const networks = networksOf(simulatedNetwork(world, world.node!))
  const asked: Letter<unknown> = {
    name: command.name,
    priority: command.name === 'pause' ? 'control' : 'interactive',
    provenance: { principal: { kind: 'key', id: 'key' }, surface: 'rest' },
    async decide(sql, gate, lanes) {
      world.memory.command = command
      try {
        const outcome = await handle({ sql, gate, lanes, networks })
        return 'awaits' in outcome ? { reply: undefined, ...outcome } : outcome
      } catch (cause) {
        checkRefusal(world, command, cause)
        throw cause
      }
    },
    late: async () => undefined,
  }
  world.node!.actor.ask(asked).then(
    (reply) => {
      const wasPosted = (reply as { status?: number } | undefined)?.status === 200
      if (wasPosted && itemOf(world, command.id!).status !== 'posted') world.broken.push(`${command.id}: answered as posted, and is not`)
    },
    () => {},
  )
}

/** Ids of attempts whose send is held up in the process that decides: it can still be called back. */
const recallable = (world: World, { lanes }: CommandContext): Set<string> => {
  const live = new Set(lanes.ids())
  const claimed = new Set([...world.memory.works.values()].filter(({ id }) => live.has(id)).map(({ ref_id }) => ref_id))
  const wired = new Set(world.wires.map(({ request }) => request.attemptId))
  return new Set(
    [...world.memory.attempts.values()].filter(({ id, item_id }) => claimed.has(item_id) && !wired.has(id)).map(({ id }) => id),
  )
}

/** What may still go out after a pause is what its answer says, and nothing that could be called back. */
const pause = async (world: World, context: CommandContext): Promise<Outcome<unknown>> => {
  const own = recallable(world, context)
  const outcome = await automationHandlers.pauseAll({}, context)
  const listed = new Set(outcome.reply.automation.in_flight.map(({ item_id }) => item_id))
  if (!world.memory.paused) world.announced.clear()
  for (const { id, item_id } of world.memory.attempts.values()) if (listed.has(item_id) && !own.has(id)) world.announced.add(id)
  return outcome
}

/** Only what another process has claimed may still go out from an account that a person has disconnected. */
const disconnect = async (world: World, context: CommandContext): Promise<Outcome<unknown>> => {
  const own = recallable(world, context)
  const outcome = await connectionHandlers.disconnect({}, context)
  const { external_id } = world.memory.connections.get(outcome.refId!)!
  world.left.set(external_id, new Set([...world.memory.attempts.keys()].filter((id) => !own.has(id))))
  return outcome
}

const connect = (world: World, account: string): void => {
  const reached = { network: 'simulated', externalId: account, handle: account }
  const actor = world.node!.actor
  connectAccount({ ask: (_, asked) => actor.ask(asked) }, TENANT, reached).catch(() => {})
  world.left.delete(account)
}

/** Somebody writes into the database, past every command; not while the item is being sent. */
const edit = (world: World, { item, body, account }: Extract<Step, { do: 'edit' }>): void => {
  const before = itemOf(world, itemId(item))
  const isSending = [...world.memory.works.values()].some(({ ref_id, state }) => ref_id === before.id && state === 'running')
  if (isSending || !['approved', 'publishing', 'publish_failed'].includes(before.status)) return
  const changes = { ...(body === undefined ? {} : { body }), ...(account === undefined ? {} : { account_external_id: account }) }
  world.memory.items.set(before.id, { ...before, ...changes })
}

const die = (world: World): void => {
  const node = world.node!
  node.alive = false
  world.held = world.held.filter((one) => one.node !== node)
}

type Doing = { [K in Step['do']]: (world: World, step: Extract<Step, { do: K }>) => void | Promise<void> }

const doing: Doing = {
  approve: (world, { item, body }) =>
    ask(world, { name: 'approve', id: itemId(item) }, (context) =>
      itemHandlers.approve({ id: itemId(item), ...(body === undefined ? {} : { edited_body: body }) }, context),
    ),
  reject: (world, { item }) =>
    ask(world, { name: 'reject', id: itemId(item) }, (context) => itemHandlers.reject({ id: itemId(item) }, context)),
  unschedule: (world, { item }) =>
    ask(world, { name: 'unschedule', id: itemId(item) }, (context) => itemHandlers.unschedule({ id: itemId(item) }, context)),
  post: (world, { item }) =>
    ask(world, { name: 'post', id: itemId(item) }, (context) => itemHandlers.postNow.begin({ id: itemId(item) }, context)),
  'mark posted': (world, { item }) =>
    ask(world, { name: 'mark posted', id: itemId(item) }, (context) => itemHandlers.markPosted({ id: itemId(item) }, context)),
  schedule(world, { item, inMs, onMissed }) {
    const input = { id: itemId(item), post_at: new Date(nowOf(world) + inMs).toISOString(), on_missed: onMissed }
    ask(world, { name: 'schedule', id: itemId(item) }, (context) => itemHandlers.schedule(input, context))
  },
  edit,
  pause: (world) => ask(world, { name: 'pause' }, (context) => pause(world, context)),
  resume: (world) => ask(world, { name: 'resume' }, (context) => automationHandlers.resumeAll({}, context)),
  disconnect: (world) => ask(world, { name: 'disconnect' }, (context) => disconnect(world, context)),
  connect: (world, { account }) => connect(world, account),
  default: (world, { account }) =>
    ask(world, { name: 'default' }, (context) => connectionsHandlers.setDefault({ id: `connection-${account}` }, context)),
  'post by hand'(world, { account }) {
    const post = { account, text: bodies[3]!, createdAt: nowOf(world), itemId: null }
    world.posts.push({ ...post, externalId: `post-${world.posts.length + 1}` })
  },
  crash(world) {
    die(world)
    takeOver(world)
  },
  takeover: takeOver,
  async stop(world) {
    const { node } = world
    void node!.actor.stop(STOP_MS)
    await world.clock.advance(STOP_MS)
    die(world)
    takeOver(world)
  },
  send(world, { fate, which }) {
    world.fate = fates[fate]!
    const held = which === 'first' ? world.held.shift() : world.held.pop()
    held?.goOn()
  },
  wait: (world, { ms }) => world.clock.advance(ms),
  see(world, { view }) {
    world.view = view
  },
  'break database'(world, { letters }) {
    world.memory.failures.push(...letters)
  },
}

const LOOK_MS = 30_000
const LONGEST_MS = 27 * HOUR

/** Everything works from here on, until the machine has nothing left to do. */
const runOut = async (world: World): Promise<void> => {
  Object.assign(world, { holding: false, fate: fates.posted, view: CLEAR })
  world.memory.failures = []
  for (const account of ['one', 'two']) connect(world, account)
  for (const { goOn } of world.held) goOn()
  await settled()
  ask(world, { name: 'resume' }, (context) => automationHandlers.resumeAll({}, context))
  await settled()
  for (let waited = 0; waited < LONGEST_MS && !isAtRest(world) && world.broken.length === 0; waited += LOOK_MS)
    await world.clock.advance(LOOK_MS)
}

/** What ran into the time of this history: deadlines in the code under test are its clock's. */
const simulateDeadlines = (world: World): void => {
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController()
    world.clock.after(ms, () => controller.abort(new DOMException('the time is over', 'TimeoutError')))
    return controller.signal
  }
}

/** The world after the history; `broken` says what was wrong, at the step where it first was. */
export const run = async (steps: readonly Step[]): Promise<World> => {
  const world = newWorld()
  simulateDeadlines(world)
  world.memory.onCommit = (before, command) => checkCommit(world, before, command)
  takeOver(world)
  for (const step of steps) {
    await doing[step.do](world, step as never)
    await settled()
    if (world.broken.length > 0) return world
  }
  await runOut(world)
  if (world.broken.length === 0) checkEnd(world)
  die(world)
  return world
}
