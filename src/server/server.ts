/** The parts of a running Tendril, opened in order and closed in reverse: database → networks → actors → operations → HTTP. */
import { randomBytes } from 'node:crypto'
import type { Server } from 'bun'
import type { AnyLane } from '#actors/engine/lane'
import type { MailboxOptions } from '#actors/engine/mailbox'
import { Runtime } from '#actors/engine/runtime'
import { startErasure } from '#actors/work/app/erasure'
import { startRemoval } from '#actors/work/app/removal'
import { type SweepDeps, startSweep } from '#actors/work/app/sweep'
import type { Config } from '#config/config'
import { hostAndPort } from '#config/values'
import type { ToolBox } from '#decisions/agent/toolbox'
import { gateHook } from '#decisions/gate'
import { consequences } from '#decisions/growth/follow-up'
import { workTable } from '#decisions/work'
import { type Models, NO_MODEL } from '#domain/agent/job/model-choice'
import type { WebhookTimes } from '#domain/app/webhook'
import type { SendTimes } from '#domain/growth/sending/times'
import { type Addresses, createAddresses, unlimitedAddresses } from '#edge/addresses'
import { Streams, type StreamTimes } from '#edge/agent/streams'
import { createAuthenticator } from '#edge/auth'
import { fileSlots } from '#edge/bytes'
import { capabilities } from '#edge/capabilities'
import { createCookies } from '#edge/cookies'
import { staticDocument } from '#edge/document'
import { createHttp } from '#edge/http'
import type { IntakeLimits } from '#edge/intake'
import { createMcp } from '#edge/mcp/endpoint'
import { createServerFactory } from '#edge/mcp/server-factory'
import type { ServerFactory } from '#edge/mcp/server'
import type { McpLimits } from '#edge/mcp/sessions'
import { toolWording } from '#edge/mcp/wording'
import { createOrigins } from '#edge/origin'
import { trustIn } from '#edge/visit'
import { type Clock, systemClock } from '#kernel/clock'
import { type Failpoints, failpointsFrom } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import { createSealer } from '#kernel/sealer'
import type { SlotLimits } from '#kernel/slots'
import type { LocalBus } from '#ops/agent/job/bus'
import { workspaceOperations } from '#ops/engine/bind'
import type { Parts, Rates, World } from '#ops/engine/call'
import { createRates, type RatesDeps, unlimitedRates } from '#ops/engine/rates'
import { createOperations, createOperatorOperations, createToolBox } from '#ops/index'
import { discreetAdapters } from '#port/channel/discreet'
import { type ChannelAdapters, channelAdapters } from '#port/channel/registry'
import type { BucketTimes } from '#port/files/s3/bucket'
import type { McpClient } from '#port/mcp-client/client'
import { createComposer } from '#port/model/composer/composer'
import type { Drafter } from '#port/model/drafter'
import { createOpenAiDrafter } from '#port/model/openai/drafter'
import type { Thinker } from '#port/model/thinker'
import type { ModelWorker } from '#port/model/worker/computations'
import { openThread } from '#port/model/worker/thread'
import { networksOf } from '#port/network/registry'
import { parseFaults } from '#port/network/sandbox/faults'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { createSandbox, type Sandbox } from '#port/network/sandbox/sandbox'
import { createNodeClient, type NodeSignature, nodeSignature } from '#port/nodes'
import { createPasswords, type PasswordCost } from '#port/passwords'
import { openTexts, type Texts } from '#port/texts/texts'
import { createTokens } from '#port/tokens'
import { type ConnectionOptions, type Db, openDb } from '#store/engine/db'
import { assertIsolation } from '#store/engine/isolation'
import openapi from '../../openapi.json'
import { agentOf } from './agent.ts'
import { egressOf } from './egress.ts'
import { filesOf, type Storage } from './files.ts'
import { lanesOf } from './lanes.ts'
import { mcpSessionsOf } from './mcp-sessions.ts'
import { routesOf } from './routes.ts'

const REPLY_WITHIN_MS = 20_000
const IDLE_MS = 300_000
const SWEEP_MS = 250
/** Once a minute is enough after a grace period of 14 days. */
const ERASURE = { everyMs: 60_000, rows: 1_000 }
/** Expired rows are removed within a minute in up to a thousand workspaces; more workspaces take turns. */
const SWEEP = { everyMs: 60_000, rows: 1_000, tenants: 1_000 }
const REMOVAL_MS = 60_000
const MODEL_CALL_MS = 80_000

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

/** Replacements for tests and for single commands. */
export interface Overrides {
  times?: SendTimes
  webhookTimes?: WebhookTimes
  /** If empty, other processes do the due work. */
  lanes?: AnyLane[]
  drafter?: Drafter
  texts?: Texts
  /** The agent's model. */
  thinker?: Thinker
  /** Further tools of the agent. */
  tools?: (box: ToolBox) => ToolBox
  /** How long a tool of the agent may take outside of letters. */
  toolMs?: number
  failpoints?: Failpoints
  /** For the actors. */
  clock?: Clock
  replyWithinMs?: number
  idleMs?: number
  sweepMs?: number
  erasure?: { everyMs: number; rows: number }
  removalMs?: number
  bucketTimes?: Partial<BucketTimes>
  sweep?: Partial<Pick<SweepDeps, 'everyMs' | 'rows' | 'tenants'>>
  mailbox?: MailboxOptions
  mcpLimits?: Partial<McpLimits>
  streamTimes?: Partial<StreamTimes>
  streamLimits?: Partial<SlotLimits>
  passwordCost?: PasswordCost
  /** How long a stop reads what clients had already sent. */
  lastRequestsMs?: number
  /** For the rates of requests. */
  rateClock?: Clock
  intake?: Partial<IntakeLimits>
  /** Calls the MCP servers of workspaces. */
  mcpClient?: McpClient
  /** The channels of the deployment, in the place of the usual ones. */
  channels?: (usual: ChannelAdapters) => ChannelAdapters
  /** Replaces the MCP servers of the operations. */
  mcpServers?: ServerFactory
}

const drafterOf = ({ openai }: Config, worker: ModelWorker, log: Log): Drafter =>
  openai ? createOpenAiDrafter({ ...openai, timeoutMs: MODEL_CALL_MS, worker, log }) : createComposer(worker)

const modelsOf = ({ openai }: Config): Models | typeof NO_MODEL =>
  openai ? { fast: openai.fast, reasoning: openai.reasoning, allow: openai.allow } : NO_MODEL

export interface WorkplaceOptions {
  log: Log
  /** The deployment's secret. A random one is enough for a process that exchanges no letters with others. */
  secret?: Buffer
  overrides?: Overrides
}

/** Starts the periodic work. */
const periodicOf = (
  { db, storage, overrides }: Workplace,
  { failpoints, auditKeepDays: keepDays, agentKeepDays }: Config,
  log: Log,
): AsyncDisposable => {
  const stack = new AsyncDisposableStack()
  const shared = { db, log, clock: systemClock }
  stack.use(startErasure({ ...shared, failpoints: overrides.failpoints ?? failpointsFrom(failpoints), ...ERASURE, ...overrides.erasure }))
  if (storage) stack.use(startRemoval({ ...shared, remove: storage.remove, everyMs: overrides.removalMs ?? REMOVAL_MS }))
  stack.use(startSweep({ ...shared, keepDays, agentKeepDays, ...SWEEP, ...overrides.sweep }))
  return stack
}

const ratesOf = ({ rateLimits }: Config, deps: RatesDeps, stack: AsyncDisposableStack): Rates =>
  rateLimits ? stack.use(createRates(deps)) : unlimitedRates

/** The engine's configuration for this product. */
const product = { kinds: workTable, gate: gateHook, consequences }

/** Database, networks and actors: all that a command needs, without HTTP. */
export async function openWorkplace(
  config: Config,
  options: ConnectionOptions,
  { log, secret = randomBytes(32), overrides = {} }: WorkplaceOptions,
): Promise<Workplace> {
  await using stack = new AsyncDisposableStack()
  const db = stack.use(openDb(options))
  await assertIsolation(db, options.logins)
  const store = stack.use(openSandboxStore(options))
  const failpoints = overrides.failpoints ?? failpointsFrom(config.failpoints)
  const { sandboxRules: rules, sandboxTier: tier } = config
  const sandbox = createSandbox({ store, faults: parseFaults(config.sandboxFaults), rules, tier, log, failpoints })
  const networks = networksOf(sandbox)
  const egress = egressOf(config, log)
  const texts = overrides.texts ?? stack.use(openTexts())
  const { times, webhookTimes, drafter = drafterOf(config, stack.use(openThread()), log) } = overrides
  const sealer = createSealer(secret)
  const { openai, publicUrl } = config
  const agent = agentOf({ db, log, openai, publicUrl, thinker: overrides.thinker, toolMs: overrides.toolMs })
  const mcp = mcpSessionsOf(config, { egress, sealer, log, client: overrides.mcpClient })
  const usualChannels = channelAdapters({ egress, urls: config.channelUrls })
  const channels = discreetAdapters(overrides.channels?.(usualChannels) ?? usualChannels)
  const parts = { networks, egress, failpoints, drafter, sealer, mcp, channels, texts, agent: agent.deps }
  const lanes = overrides.lanes ?? Object.values(lanesOf({ ...parts, times, webhookTimes }))
  const { clock = systemClock, replyWithinMs = REPLY_WITHIN_MS, idleMs = IDLE_MS, sweepMs = SWEEP_MS, mailbox = {} } = overrides
  const tell = (id: string) => agent.bus.changed(id)
  const shared = { db, options, log, failpoints, lanes, ...product, tell, url: config.nodeUrl }
  const runtime = new Runtime({ ...shared, clock, replyWithinMs, idleMs, sweepMs, mailbox })
  stack.use(await runtime.start())
  const { files, storage } = stack.use(await filesOf(config, { runtime, log, failpoints, times: overrides.bucketTimes }))
  const signature = nodeSignature(secret, () => runtime.now())
  const nodes = createNodeClient(signature)
  const identity = { tokens: createTokens(secret), passwords: createPasswords(overrides.passwordCost), publicUrl: config.publicUrl }
  const rates = ratesOf(config, { db, clock: overrides.rateClock ?? systemClock, log }, stack)
  const reached: Parts = {
    ...{ db, rates, networks, sandbox, egress, nodes },
    ...{ files, identity, sealer, mcp, channels, drafter: drafter.name, desk: agent.deps.desk },
    ask: (tenantId, letter) => runtime.ask(tenantId, letter),
  }
  const models = modelsOf(config)
  const box = createToolBox({ ...reached, models, fetchAllow: config.fetchAllow, tools: () => world.tools }, toolWording)
  const world: World = { ...reached, tools: overrides.tools?.(box) ?? box, models }
  agent.begin(world)
  const owned = stack.move()
  return { db, world, bus: agent.bus, sandbox, runtime, storage, signature, overrides, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Waits until clients have received their answers. */
const stopServer = async (server: Server<unknown>, drained: Promise<void>): Promise<void> => {
  await Promise.race([drained, Bun.sleep(LAST_ANSWERS_MS)])
  await server.stop(true)
}

const addressesOf = ({ rateLimits }: Config, { rateClock = systemClock }: Overrides): Addresses =>
  rateLimits ? createAddresses(rateClock) : unlimitedAddresses

export interface Listening extends AsyncDisposable {
  port: number
}

/** Time to read what clients had already sent: closing drops what has arrived unread on a connection that seems idle. */
const LAST_REQUESTS_MS = 100
/** How long ready answers can take at the end to reach slow clients. */
const LAST_ANSWERS_MS = 3_000

/**
 * The HTTP server over a workplace. Closing it reads what was sent, stops accepting, stops the actors so that waiting callers get
 * their answers, and then stops the server. Health is unavailable until `ready`.
 */
export async function listen(config: Config, workplace: Workplace, log: Log, ready = (): boolean => true): Promise<Listening> {
  const { world, bus, db, runtime, signature, overrides } = workplace
  const cookies = createCookies(config.publicUrl)
  const origins = createOrigins(config.publicUrl, () => app.server?.port ?? config.port)
  const authenticator = createAuthenticator({ db, tokens: world.identity.tokens, cookies, origins, log })
  const placement = { incarnation: () => runtime.incarnation, owns: (tenantId: string) => runtime.owns(tenantId) }
  const streams = new Streams({ db, bus, log, ...placement, times: overrides.streamTimes, limits: overrides.streamLimits })
  const shared = { authenticator, cookies, origins, addresses: addressesOf(config, overrides), streams, fileSlots: fileSlots(), log }
  const documents = { openapi: staticDocument(openapi), capabilities: staticDocument(capabilities()) }
  const [operations, internal] = [createOperations(world), createOperatorOperations(world)]
  const mcp = createMcp({
    ...{ authenticator, origins, db, log, rates: world.rates },
    operations: workspaceOperations([...operations, ...internal]),
    servers: overrides.mcpServers ?? createServerFactory(),
    incarnation: () => runtime.incarnation,
    limits: overrides.mcpLimits ?? {},
  })
  const app = createHttp({
    operations,
    internal,
    mcp,
    routes: routesOf(workplace, { ...shared, operations, log }, internal),
    serving: () => runtime.serving,
    ready,
    ...{ trust: trustIn(config.trustedProxies), publicUrl: config.publicUrl, intake: overrides.intake ?? {} },
    ...{ ...shared, documents, signature, commit: config.commit },
  })
  // By default the framework shares a port with another server, and each would get some of the other's requests.
  app.listen({ port: config.port, hostname: config.host, reusePort: false })
  const server = app.server as Server<unknown>
  if (config.port === 0) await runtime.movedTo(`http://${hostAndPort(config.host, server.port!)}`)
  const periodic = periodicOf(workplace, config, log)
  return {
    port: server.port!,
    async [Symbol.asyncDispose]() {
      streams[Symbol.dispose]()
      await periodic[Symbol.asyncDispose]()
      await Bun.sleep(overrides.lastRequestsMs ?? LAST_REQUESTS_MS)
      const drained = server.stop()
      await runtime[Symbol.asyncDispose]()
      await mcp[Symbol.asyncDispose]()
      await stopServer(server, drained)
      await authenticator[Symbol.asyncDispose]()
    },
  }
}
