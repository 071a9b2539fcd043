/**
 * The parts of a running Tendril, opened in order and closed in reverse: database → networks →
 * actors → operations. That is all that a command needs. HTTP is opened on top of them (listen.ts).
 */
import { randomBytes } from 'node:crypto'
import type { Followers } from '#actors/engine/deps'
import type { Runtime } from '#actors/engine/runtime'
import type { Config } from '#config/config'
import type { ToolBox } from '#decisions/agent/toolbox'
import { toolWording } from '#edge/mcp/wording'
import { systemClock } from '#kernel/clock'
import { failpointsFrom } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import { createSealer } from '#kernel/sealer'
import { type SecretKeys, soleKey } from '#kernel/secret-keys'
import type { Tracer } from '#kernel/trace'
import { LocalBus } from '#ops/agent/job/bus'
import { secrecyOf } from '#ops/agent/job/secrecy'
import { HintBus } from '#ops/app/events/hint-bus'
import type { Parts, Rates, World } from '#ops/engine/call'
import { createRates, unlimitedRates } from '#ops/engine/rates'
import { createToolBox } from '#ops/index'
import type { Sandbox } from '#port/network/sandbox/sandbox'
import { createNodeClient, type NodeSignature, nodeSignature } from '#port/nodes'
import { createPasswords } from '#port/passwords'
import { createTokens } from '#port/tokens'
import { type ConnectionOptions, type Db, openDb } from '#store/engine/db'
import { assertIsolation } from '#store/engine/isolation'
import { createActors } from './actors.ts'
import { agentOf, desk, outsideOf } from './agent.ts'
import { filesOf, noteByLetter, type Storage } from './files.ts'
import { lanesOf } from './lanes.ts'
import { Meters } from './metrics/meters.ts'
import { openModels } from './models.ts'
import { openNetworks } from './networks.ts'
import type { Overrides, StartupContext } from './opening.ts'
import { openTraces } from './traces/open.ts'

export interface Workplace extends AsyncDisposable {
  db: Db
  world: World
  bus: LocalBus
  hints: HintBus
  sandbox: Sandbox
  runtime: Runtime
  storage: Storage | undefined
  signature: NodeSignature
  /** Undefined if nobody can read metrics. */
  meters: Meters | undefined
  /** Undefined: there are no traces. */
  tracer: Tracer | undefined
  overrides: Overrides
}

export interface WorkplaceOptions {
  log: Log
  /**
   * The deployment's secret keys. A random one is enough for a process that does not exchange
   * letters with others.
   */
  keys?: SecretKeys
  overrides?: Overrides
}

/** The streams of this process. */
const followersOf = ({ bus, hints }: Pick<Workplace, 'bus' | 'hints'>): Followers => ({
  committed(tenantId, letter) {
    for (const { id } of letter.effects.news ?? []) if (id !== null) bus.changed(id)
    hints.committed(tenantId, letter)
  },
  isFollowed: (tenantId) => hints.isFollowed(tenantId),
  left: (tenantId) => hints.left(tenantId),
})

/** Everything that does not need operations. Each part is made from the ones before it. */
const openParts = async (opening: StartupContext, tools: () => ToolBox) => {
  const { config, options, keys, log, overrides, failpoints, stack } = opening
  const db = stack.use(openDb(options))
  await assertIsolation(db, options.logins)
  const models = openModels(opening)
  const sealer = createSealer(keys)
  const networks = openNetworks(opening, { db, sealer })
  const outside = outsideOf(opening, { egress: networks.egress, sealer })
  const bus = new LocalBus()
  const hints = new HintBus(secrecyOf(db, tools), log)
  const runtime = createActors(opening, {
    db,
    followers: followersOf({ bus, hints }),
    networks: networks.networks,
  })
  const kept = stack.use(
    await filesOf(config, {
      note: noteByLetter(runtime),
      log,
      failpoints,
      times: overrides.bucketTimes,
    }),
  )
  const signature = nodeSignature(keys, () => runtime.now())
  const rates = openRates(opening, db)
  return {
    db,
    ...networks,
    ...models,
    sealer,
    ...outside,
    bus,
    hints,
    runtime,
    files: kept.files,
    storage: kept.storage,
    signature,
    rates,
  }
}

const openRates = ({ config, overrides, log, stack }: StartupContext, db: Db): Rates =>
  config.rateLimits
    ? stack.use(createRates({ db, clock: overrides.rateClock ?? systemClock, log }))
    : unlimitedRates

/** What operations can reach, together with the tools that are made from them. */
const worldOf = (
  opened: Awaited<ReturnType<typeof openParts>>,
  { config, keys, overrides }: StartupContext,
): World => {
  const {
    db,
    rates,
    networks,
    sandbox,
    bluesky,
    egress,
    files,
    sealer,
    mcp,
    channels,
    drafter,
    models,
    texts,
    runtime,
    signature,
  } = opened
  const { fetchAllow, publicUrl } = config
  const identity = {
    tokens: createTokens(keys),
    passwords: createPasswords(overrides.passwordCost),
    publicUrl,
  }
  const parts: Parts = {
    db,
    rates,
    networks,
    sandbox,
    bluesky,
    egress,
    files,
    identity,
    sealer,
    mcp,
    channels,
    desk,
    drafter: drafter.name,
    nodes: createNodeClient(signature),
    ask: (tenantId, letter) => runtime.ask(tenantId, letter),
  }
  // Some tools need all the others, for example those that start jobs with some of them.
  const box = createToolBox({ ...parts, models, fetchAllow, tools: () => world.tools }, toolWording)
  const world: World = { ...parts, tools: overrides.tools?.(box) ?? box, models, texts }
  return world
}

/** What counts and what traces what happens, where that is configured. */
const openWatchers = async (
  { metrics, traces, openai, commit }: Config,
  log: Log,
  { overrides, stack }: Pick<StartupContext, 'overrides' | 'stack'>,
): Promise<Pick<StartupContext, 'meters' | 'tracer'>> => {
  const meters = metrics && new Meters(openai?.prices)
  const parts = { log, commit, counted: meters?.traced, limits: overrides.traceLimits }
  const opened = traces && stack.use(await openTraces(traces, parts))
  return { meters, tracer: opened?.tracer }
}

/**
 * Database, networks and actors. This is all that a command needs, because it does not serve HTTP.
 */
export async function openWorkplace(
  config: Config,
  options: ConnectionOptions,
  { log, keys = soleKey(randomBytes(32)), overrides = {} }: WorkplaceOptions,
): Promise<Workplace> {
  await using stack = new AsyncDisposableStack()
  const failpoints = overrides.failpoints ?? failpointsFrom(config.failpoints)
  const watchers = await openWatchers(config, log, { overrides, stack })
  const { meters, tracer } = watchers
  const opening: StartupContext = {
    config,
    options,
    keys,
    log,
    overrides,
    failpoints,
    ...watchers,
    stack,
  }
  const parts = await openParts(opening, () => world.tools)
  const { db, thinker, bus, hints, sandbox, runtime, storage, signature } = parts
  const world: World = worldOf(parts, opening)
  const { openai, publicUrl } = config
  const { times, webhookTimes, toolMs } = overrides
  const agent = agentOf({ world, openai, thinker, toolMs, db, log, bus, publicUrl })
  await runtime.start(
    overrides.lanes ??
      Object.values(lanesOf({ ...parts, failpoints, agent, times, webhookTimes, meters, tracer })),
  )
  const owned = stack.move()
  return {
    db,
    world,
    bus,
    hints,
    sandbox,
    runtime,
    storage,
    signature,
    meters,
    tracer,
    overrides,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
