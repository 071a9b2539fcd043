/**
 * The parts of a running Tendril, opened in order and closed in reverse: database → networks → actors → operations, which is all that a
 * command needs. HTTP is opened on top of them (listen.ts).
 */
import { randomBytes } from 'node:crypto'
import type { Runtime } from '#actors/engine/runtime'
import type { Config } from '#config/config'
import { toolWording } from '#edge/mcp/wording'
import { systemClock } from '#kernel/clock'
import { failpointsFrom } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import { createSealer } from '#kernel/sealer'
import { LocalBus } from '#ops/agent/job/bus'
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
import { agentOf, channelsOf, desk } from './agent.ts'
import { egressOf } from './egress.ts'
import { filesOf, type Storage } from './files.ts'
import { lanesOf } from './lanes.ts'
import { mcpSessionsOf } from './mcp-sessions.ts'
import { openModels } from './models.ts'
import { openNetworks } from './networks.ts'
import type { Opening, Overrides } from './opening.ts'

export interface Workplace extends AsyncDisposable {
  db: Db
  world: World
  bus: LocalBus
  sandbox: Sandbox
  runtime: Runtime
  storage: Storage | undefined
  signature: NodeSignature
  overrides: Overrides
}

export interface WorkplaceOptions {
  log: Log
  /** The deployment's secret. A random one is enough for a process that exchanges no letters with others. */
  secret?: Buffer
  overrides?: Overrides
}

const openRates = ({ config, overrides, log, stack }: Opening, db: Db): Rates =>
  config.rateLimits ? stack.use(createRates({ db, clock: overrides.rateClock ?? systemClock, log })) : unlimitedRates

/** Some tools of the agent look at all its tools, as those that start jobs with some of them. */
const withTools = (parts: Parts, models: World['models'], { config, overrides }: Opening): World => {
  const box = createToolBox({ ...parts, models, fetchAllow: config.fetchAllow, tools: () => world.tools }, toolWording)
  const world: World = { ...parts, tools: overrides.tools?.(box) ?? box, models }
  return world
}

/** Database, networks and actors: all that a command needs, without HTTP. */
export async function openWorkplace(
  config: Config,
  options: ConnectionOptions,
  { log, secret = randomBytes(32), overrides = {} }: WorkplaceOptions,
): Promise<Workplace> {
  await using stack = new AsyncDisposableStack()
  const failpoints = overrides.failpoints ?? failpointsFrom(config.failpoints)
  const opening: Opening = { config, options, log, overrides, failpoints, stack }
  const { openai, publicUrl } = config
  const db = stack.use(openDb(options))
  await assertIsolation(db, options.logins)
  const { networks, sandbox } = openNetworks(opening)
  const egress = egressOf(config, log)
  const { texts, drafter, thinker, models } = openModels(opening)
  const sealer = createSealer(secret)
  const mcp = mcpSessionsOf(config, { egress, sealer, log, client: overrides.mcpClient })
  const channels = channelsOf(opening, egress)
  const bus = new LocalBus()
  const runtime = createActors(opening, { db, tell: (id) => bus.changed(id) })
  const { files, storage } = stack.use(await filesOf(config, { runtime, log, failpoints, times: overrides.bucketTimes }))
  const signature = nodeSignature(secret, () => runtime.now())
  const identity = { tokens: createTokens(secret), passwords: createPasswords(overrides.passwordCost), publicUrl }
  const parts: Parts = {
    ...{ db, rates: openRates(opening, db), networks, sandbox, egress, nodes: createNodeClient(signature), files, identity, sealer },
    ...{ mcp, channels, drafter: drafter.name, desk, ask: (tenantId, letter) => runtime.ask(tenantId, letter) },
  }
  const world = withTools(parts, models, opening)
  const agent = agentOf({ world, openai, thinker, toolMs: overrides.toolMs, db, log, bus, publicUrl })
  const { times, webhookTimes } = overrides
  const usualLanes = () => lanesOf({ networks, egress, failpoints, drafter, sealer, mcp, channels, texts, agent, times, webhookTimes })
  await runtime.start(overrides.lanes ?? Object.values(usualLanes()))
  const owned = stack.move()
  return { db, world, bus, sandbox, runtime, storage, signature, overrides, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
