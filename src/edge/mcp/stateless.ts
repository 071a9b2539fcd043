/**
 * MCP without sessions, as of version 2026-07-28. Each request names its client and version, and a
 * client that wants notifications keeps one request open. Calls pass the same checks as those of a
 * session.
 */
import {
  createMcpHandler,
  InMemoryServerEventBus,
  type McpHttpHandler,
} from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache'
import { BODY_LIMIT } from '#contract/kinds'
import { AppError } from '#kernel/errors'
import { FairLimit } from '#kernel/fair-limit'
import { readTool } from './call-tool.ts'
import { accessKey, callerId, type McpCaller } from './caller.ts'
import type { McpContext } from './context.ts'
import { authInfoOf, requireContext } from './context.ts'
import { type Lister, ModuleWatch } from './module-watch.ts'
import { envelopeIn, type PlainCall, plainAnswer, plainCallIn } from './plain-call.ts'
import { KEEP_ALIVE_MS, VERSION_HEADER } from './sdk-session.ts'
import type { ServerSettings } from './server.ts'
import { serverInfo } from './server-info.ts'
import type { SessionsDeps } from './sessions.ts'
import { withModules } from './tools.ts'
import type { View } from './view.ts'

const LISTEN = 'subscriptions/listen'

/** The only version without sessions. */
const VERSION = '2026-07-28'
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
const MAX_ENVELOPES = 1_000
/** In characters of JSON. */
const LONGEST_ENVELOPE = 2_000
/** What a client sees if it does not name any toolsets. */
const WHOLE: View = { toolsets: undefined, readOnly: false }

/** A request kept open for notifications. */
interface Listener {
  caller: McpCaller
  access: string
  /**
   * The modules that were enabled when it was last told about its tools. Undefined if they do not
   * depend on any.
   */
  modules: ReadonlySet<string> | undefined
  handler: McpHttpHandler
  /** Makes room for others. */
  release(): void
}

export type StatelessDeps = Pick<
  SessionsDeps,
  'servers' | 'log' | 'refresh' | 'modulesOf' | 'calls' | 'limits'
>

export class Stateless implements AsyncDisposable {
  readonly #listeners = new Set<Listener>()
  readonly #slots: FairLimit
  /**
   * Envelopes that the SDK has accepted. They say who the client is and what it can do, and are the
   * same in each of its requests.
   */
  readonly #envelopes = new LRUCache<string, true>({ max: MAX_ENVELOPES })
  readonly #timer: Timer
  readonly #modules: ModuleWatch
  #ending = false

  constructor(private readonly deps: StatelessDeps) {
    const { perCaller: share, perTenant: perWorkspace, perProcess: total } = deps.limits
    this.#slots = new FairLimit({
      name: 'mcp_sessions',
      share,
      perWorkspace,
      total,
      retryAfter: 30,
    })
    this.#modules = new ModuleWatch((tenantId) => deps.modulesOf(tenantId))
    const failed = (cause: unknown) =>
      deps.log.warn({ err: cause }, 'could not refresh MCP listeners')
    this.#timer = setInterval(() => void this.sweep().catch(failed), deps.limits.sweepMs)
  }

  async handle(
    request: Request,
    { context, view, body }: { context: McpContext; view: View; body: unknown },
  ): Promise<Response> {
    if (this.#ending) throw new AppError('unavailable', 'the server is stopping, try again')
    const options = { parsedBody: body, authInfo: authInfoOf(context) }
    if ((body as { method?: unknown } | null)?.method === LISTEN)
      return this.#listen(request, { context, view, options })
    const response = await handlerFor(this.deps, this.#settings(view)).fetch(request, options)
    const envelope = envelopeIn((body as { params?: { _meta?: unknown } }).params?._meta)
    const isKnown = request.headers.get(VERSION_HEADER) === VERSION && response.ok
    if (isKnown && envelope && envelope.length <= LONGEST_ENVELOPE)
      this.#envelopes.set(envelope, true)
    return response
  }

  /**
   * The call that a request makes, if it does not need the SDK. The SDK is needed for a client's
   * first envelope, and for a view.
   */
  plainCallIn(
    { headers, url }: Request,
    body: unknown,
    operations: McpContext['operations'],
  ): PlainCall | undefined {
    if (this.#ending || url.includes('?')) return undefined
    if (headers.get(VERSION_HEADER) !== VERSION || headers.get('mcp-method') !== 'tools/call')
      return undefined
    const call = plainCallIn(body, operations, WHOLE)
    if (
      !call ||
      !this.#envelopes.get(call.envelope) ||
      headers.get('content-type') !== 'application/json'
    )
      return undefined
    return headers.get('mcp-name') === call.operation.tool ? call : undefined
  }

  /**
   * Answers a call without the SDK. Undefined if it is refused and the caller's access must be
   * looked up.
   */
  async read(call: PlainCall, context: McpContext): Promise<Response | undefined> {
    const result = await this.deps.calls.count(context.call, () => readTool(context, call))
    if (!result) return undefined
    const { members, meta } = result
    return plainAnswer({
      id: call.id,
      result: {
        members: `${members},"resultType":"complete"`,
        meta: { ...meta, [SERVER_INFO]: serverInfo },
      },
    })
  }

  async sweep(): Promise<void> {
    const listeners = [...this.#listeners]
    if (listeners.length === 0) return
    const current = await this.deps.refresh(listeners.map(({ caller }) => caller))
    await Promise.all(listeners.map((listener, index) => this.#review(listener, current[index])))
    await this.#modules.sweep([...this.#listeners].map(listerOf))
  }

  /** Refuses requests from now on. */
  refuse(): void {
    this.#ending = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending = true
    clearInterval(this.#timer)
    await Promise.all([...this.#listeners].map(({ handler }) => handler.close()))
    this.#listeners.clear()
  }

  async #review(listener: Listener, now: McpCaller | undefined): Promise<void> {
    if (!now) {
      this.#forget(listener)
      return listener.handler.close()
    }
    if (accessKey(now) !== listener.access) notifyOfChange(listener.handler)
    listener.access = accessKey(now)
  }

  async #listen(
    request: Request,
    {
      context,
      view,
      options,
    }: {
      context: McpContext
      view: View
      options: { parsedBody: unknown; authInfo: ReturnType<typeof authInfoOf> }
    },
  ): Promise<Response> {
    const { call } = context
    const { modules } = await withModules(context, view)
    const giveUp = () => {
      this.#listeners.delete(listener)
      void listener.handler.close()
    }
    const listener: Listener = {
      caller: call,
      access: accessKey(call),
      modules,
      handler: handlerFor(
        this.deps,
        this.#settings(view),
        new OneStream(() => this.#forget(listener)),
      ),
      release: this.#slots.take({ party: callerId(call), workspace: call.tenantId, giveUp }),
    }
    this.#listeners.add(listener)
    const response = await listener.handler.fetch(request, options)
    if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
      this.#forget(listener)
    return response
  }

  #forget(listener: Listener): void {
    this.#listeners.delete(listener)
    listener.release()
  }

  #settings(view: View): ServerSettings {
    const within: ServerSettings['within'] = (ctx, run) => {
      const context = requireContext(ctx)
      return this.deps.calls.count(context.call, () => run(context))
    }
    return { view, era: 'stateless', within }
  }
}

const listerOf = (listener: Listener): Lister => ({
  tenantId: listener.caller.tenantId,
  listed: listener.modules,
  changed(modules) {
    listener.modules = modules
    listener.handler.notify.toolsChanged()
  },
})

/** An event bus with one subscriber; calls `onEnd` when its stream ends. */
class OneStream extends InMemoryServerEventBus {
  constructor(private readonly onEnd: () => void) {
    super()
  }

  override subscribe(listener: Parameters<InMemoryServerEventBus['subscribe']>[0]): () => void {
    const unsubscribe = super.subscribe(listener)
    return () => {
      unsubscribe()
      this.onEnd()
    }
  }
}

const handlerFor = (
  { servers, log }: Pick<StatelessDeps, 'servers' | 'log'>,
  settings: ServerSettings,
  bus?: InMemoryServerEventBus,
): McpHttpHandler =>
  createMcpHandler(() => servers.create(settings), {
    legacy: 'reject',
    keepAliveMs: KEEP_ALIVE_MS,
    maxRequestBodySize: BODY_LIMIT,
    onerror: (cause) => log.debug({ err: cause }, 'an MCP request was refused'),
    ...(bus ? { bus } : {}),
  })

const notifyOfChange = ({ notify }: McpHttpHandler): void => {
  notify.toolsChanged()
  notify.resourcesChanged()
  notify.promptsChanged()
}
