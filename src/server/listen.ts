/** HTTP on top of a workplace: routes, pages, documents and MCP. */
import type { Server } from 'bun'
import type { Config } from '#config/config'
import { hostAndPort } from '#config/values'
import { createAddresses, unlimitedAddresses } from '#edge/addresses'
import { Streams } from '#edge/agent/streams'
import { HintStreams } from '#edge/app/hint-streams'
import { createAuthenticator } from '#edge/auth'
import { fileSlots } from '#edge/bytes'
import { capabilityManifest } from '#edge/capabilities'
import type { ConsoleState } from '#edge/console/bundle'
import { createCookies } from '#edge/cookies'
import { staticDocument } from '#edge/document'
import { StreamPlaces } from '#edge/event-streams'
import { createHttp } from '#edge/http'
import { createMcp } from '#edge/mcp/endpoint'
import { createServerFactory } from '#edge/mcp/server-factory'
import { createOrigins } from '#edge/origin'
import { trustIn } from '#edge/visit'
import { systemClock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import { DeedWatch } from '#ops/app/events/deed-watch'
import { type Bound, workspaceOperations } from '#ops/engine/bind'
import { createOperations, createOperatorOperations } from '#ops/index'
import openapi from '../../openapi.json'
import { type Console, openConsole } from './console.ts'
import { openMetrics } from './metrics/open.ts'
import { startPeriodicWork } from './periodic.ts'
import { readinessOf } from './readiness.ts'
import { routesOf } from './routes.ts'
import { watchingOf } from './watching.ts'
import type { Workplace } from './workplace.ts'

export interface Listening extends AsyncDisposable {
  port: number
  /** The port of metrics, if they have one of their own. */
  metricsPort: number | undefined
}

/**
 * How long to read what clients had already sent. Closing drops what has arrived but was not read
 * on a connection that seems idle.
 */
const LAST_REQUESTS_MS = 100
/** How long finished answers may take, at the end, to reach slow clients. */
const LAST_ANSWERS_MS = 3_000

/** Waits until clients have received their answers. */
const stopServer = async (server: Server<unknown>, drained: Promise<void>): Promise<void> => {
  await Promise.race([drained, Bun.sleep(LAST_ANSWERS_MS)])
  await server.stop(true)
}

/**
 * What operations, pages and MCP share. `port`: the port that the server listens on, which may be
 * chosen late.
 */
const sharedOf = (
  config: Config,
  { world, bus, hints, db, runtime, tracer, overrides }: Workplace,
  { log, port }: { log: Log; port: () => number },
) => {
  const cookies = createCookies(config.publicUrl)
  const origins = createOrigins(config.publicUrl, port)
  const owns = (tenantId: string) => runtime.owns(tenantId)
  const places = new StreamPlaces({
    db,
    log,
    incarnation: () => runtime.incarnation,
    owns,
    times: overrides.streamTimes,
    limits: overrides.streamLimits,
  })
  const wake = (tenantId: string) => runtime.wake(tenantId)
  return {
    cookies,
    origins,
    authenticator: createAuthenticator({
      db,
      tokens: world.identity.tokens,
      cookies,
      origins,
      log,
    }),
    places,
    streams: new Streams({ places, bus, log, owns }),
    hintStreams: new HintStreams({ places, hints, owns, wake }),
    addresses: config.rateLimits
      ? createAddresses(overrides.rateClock ?? systemClock)
      : unlimitedAddresses,
    fileSlots: fileSlots(),
    log,
    tracer,
  }
}

type Shared = ReturnType<typeof sharedOf>

const consoleOf = (config: Config, { overrides }: Workplace, log: Log): Console =>
  overrides.console
    ? { state: overrides.console, [Symbol.dispose]: () => {} }
    : openConsole(config, log)

interface Life {
  ready(): boolean
  stage(): 'starting' | 'running' | 'stopping'
}

const mcpOf = (
  { world, db, runtime, overrides }: Workplace,
  { authenticator, origins, log, tracer }: Shared,
  operations: Bound[],
) =>
  createMcp({
    authenticator,
    origins,
    db,
    log,
    rates: world.rates,
    operations: workspaceOperations(operations),
    servers: overrides.mcpServers ?? createServerFactory(),
    incarnation: () => runtime.incarnation,
    limits: overrides.mcpLimits ?? {},
    tracer,
  })

const httpOf = (
  config: Config,
  workplace: Workplace,
  shared: Shared & { console: () => ConsoleState },
  { ready, stage }: Life,
) => {
  const { world, db, runtime, signature, overrides } = workplace
  const { log } = shared
  const [operations, internal] = [createOperations(world), createOperatorOperations(world)]
  const serving = () => runtime.serving
  const readiness = readinessOf({
    ...watchingOf(workplace),
    db,
    log,
    stage,
    serving,
    clock: systemClock,
  })
  const mcp = mcpOf(workplace, shared, [...operations, ...internal])
  const { places } = shared
  const metrics = openMetrics(config, {
    workplace,
    log,
    readiness,
    streams: () => places.count,
    mcpSessions: mcp.sessions,
  })
  const app = createHttp({
    ...shared,
    operations,
    internal,
    mcp,
    signature,
    ready,
    readiness,
    answered: workplace.meters?.answered,
    commit: config.commit,
    publicUrl: config.publicUrl,
    routes: [...routesOf(workplace, { ...shared, operations }, internal), ...metrics.routes],
    documents: {
      openapi: staticDocument(openapi),
      capabilities: staticDocument(capabilityManifest()),
    },
    serving,
    trust: trustIn(config.trustedProxies),
    intake: overrides.intake ?? {},
  })
  return { app, mcp, metrics }
}

/**
 * The framework also stops the server before the process exits. Its listener for that is never
 * removed, and would keep a closed server and all that it serves in memory. We close the server
 * ourselves.
 */
const startServer = (
  app: ReturnType<typeof createHttp>,
  { port, host }: Config,
): Server<unknown> => {
  const before = new Set(process.listeners('beforeExit'))
  // By default, the framework shares a port with another server, and each would get some of the
  // other's requests.
  app.listen({ port, hostname: host, reusePort: false })
  for (const listener of process.listeners('beforeExit'))
    if (!before.has(listener)) process.off('beforeExit', listener)
  return app.server as Server<unknown>
}

/** Opens both ports, or none. */
const openPorts = async (
  app: ReturnType<typeof createHttp>,
  metrics: ReturnType<typeof openMetrics>,
  config: Config,
): Promise<{ server: Server<unknown>; metricsPort: number | undefined }> => {
  const server = startServer(app, config)
  try {
    return { server, metricsPort: metrics.listen() }
  } catch (cause) {
    await server.stop(true)
    throw cause
  }
}

/**
 * The HTTP server on top of a workplace. To close, it reads what was already sent, stops accepting
 * connections, stops the actors so that waiting callers get their answers, and then stops the
 * server. Health answers `unavailable` until `ready`.
 */
export async function listen(
  config: Config,
  workplace: Workplace,
  log: Log,
  ready = (): boolean => true,
): Promise<Listening> {
  const { runtime, overrides } = workplace
  const bound = { port: config.port }
  let isStopping = false
  const stage = () => {
    if (isStopping) return 'stopping'
    return ready() ? 'running' : 'starting'
  }
  const shared = sharedOf(config, workplace, { log, port: () => bound.port })
  const web = consoleOf(config, workplace, log)
  const { app, mcp, metrics } = httpOf(
    config,
    workplace,
    { ...shared, console: web.state },
    { ready, stage },
  )
  const { server, metricsPort } = await openPorts(app, metrics, config)
  bound.port = server.port!
  if (config.port === 0) await runtime.movedTo(`http://${hostAndPort(config.host, bound.port)}`)
  const { db, hints } = workplace
  const watched = { db, hints, log, now: () => runtime.now() }
  const deeds = new DeedWatch(watched, overrides.streamTimes?.lookMs)
  const periodic = startPeriodicWork(workplace, config, log)
  return {
    port: bound.port,
    metricsPort,
    async [Symbol.asyncDispose]() {
      isStopping = true
      shared.places[Symbol.dispose]()
      deeds[Symbol.dispose]()
      web[Symbol.dispose]()
      await periodic[Symbol.asyncDispose]()
      await Bun.sleep(overrides.lastRequestsMs ?? LAST_REQUESTS_MS)
      const drained = server.stop()
      await runtime[Symbol.asyncDispose]()
      await mcp[Symbol.asyncDispose]()
      await stopServer(server, drained)
      await metrics[Symbol.asyncDispose]()
      await shared.authenticator[Symbol.asyncDispose]()
    },
  }
}
