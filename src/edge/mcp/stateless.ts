/**
 * The era without sessions, from 2026-07-28 on: each request says who it is and which version it speaks, and a client that wants
 * to hear of changes holds one request open. Calls go through the same gates as those of a session.
 */
import { createMcpHandler, InMemoryServerEventBus, type McpHttpHandler } from '@modelcontextprotocol/server'
import { BODY_LIMIT } from '#contract/kinds'
import { AppError } from '#kernel/errors'
import { accessOf, type McpCaller, nameOf } from './caller.ts'
import type { McpContext } from './context.ts'
import { authInfoOf, contextOf, KEEP_ALIVE_MS, type Served } from './session.ts'
import type { SessionsDeps } from './sessions.ts'
import type { View } from './view.ts'

const LISTEN = 'subscriptions/listen'

/** A request that stays open to hear of changes. */
interface Listener {
  caller: McpCaller
  access: string
  handler: McpHttpHandler
}

export type StatelessDeps = Pick<SessionsDeps, 'surface' | 'log' | 'standing' | 'calls' | 'limits'>

export class Stateless implements AsyncDisposable {
  readonly #listeners = new Set<Listener>()
  readonly #timer: Timer
  #ending = false

  constructor(private readonly deps: StatelessDeps) {
    const failed = (cause: unknown) => deps.log.warn({ err: cause }, 'listeners were not looked after')
    this.#timer = setInterval(() => void this.sweep().catch(failed), deps.limits.sweepMs)
  }

  async handle(request: Request, { context, view, body }: { context: McpContext; view: View; body: unknown }): Promise<Response> {
    if (this.#ending) throw new AppError('unavailable', 'the server is stopping, try again')
    const options = { parsedBody: body, authInfo: authInfoOf(context) }
    if ((body as { method?: unknown } | null)?.method === LISTEN) return this.#listen(request, { context, view, options })
    return handlerFor(this.deps, this.#served(view)).fetch(request, options)
  }

  async sweep(): Promise<void> {
    const listeners = [...this.#listeners]
    if (listeners.length === 0) return
    const standing = await this.deps.standing(listeners.map(({ caller }) => caller))
    await Promise.all(listeners.map((listener, index) => this.#review(listener, standing[index])))
  }

  /** From now on no request is taken. */
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
      this.#listeners.delete(listener)
      return listener.handler.close()
    }
    if (accessOf(now) !== listener.access) tellOfChange(listener.handler)
    listener.access = accessOf(now)
  }

  async #listen(
    request: Request,
    {
      context,
      view,
      options,
    }: { context: McpContext; view: View; options: { parsedBody: unknown; authInfo: ReturnType<typeof authInfoOf> } },
  ): Promise<Response> {
    const { limits } = this.deps
    const { call } = context
    const ofTenant = [...this.#listeners].filter(({ caller }) => caller.tenantId === call.tenantId)
    const own = ofTenant.filter(({ caller }) => nameOf(caller) === nameOf(call)).length
    if (own >= limits.perCaller || ofTenant.length >= limits.perTenant || this.#listeners.size >= limits.perProcess)
      throw new AppError('rate_limited', 'mcp_sessions', { retryAfter: 30 })
    const listener: Listener = {
      caller: call,
      access: accessOf(call),
      handler: handlerFor(this.deps, this.#served(view), new OneStream(() => this.#listeners.delete(listener))),
    }
    this.#listeners.add(listener)
    const response = await listener.handler.fetch(request, options)
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) this.#listeners.delete(listener)
    return response
  }

  #served(view: View): Served {
    const within: Served['within'] = (ctx, run) => {
      const context = contextOf(ctx)
      return this.deps.calls.count(context.call, () => run(context))
    }
    return { view, era: 'stateless', within }
  }
}

/** Says when the stream that listens here has ended: it is the only one. */
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
  { surface, log }: Pick<StatelessDeps, 'surface' | 'log'>,
  served: Served,
  bus?: InMemoryServerEventBus,
): McpHttpHandler =>
  createMcpHandler(() => surface.open(served), {
    legacy: 'reject',
    keepAliveMs: KEEP_ALIVE_MS,
    maxRequestBodySize: BODY_LIMIT,
    onerror: (cause) => log.debug({ err: cause }, 'an MCP request was refused'),
    ...(bus ? { bus } : {}),
  })

const tellOfChange = ({ notify }: McpHttpHandler): void => {
  notify.toolsChanged()
  notify.resourcesChanged()
  notify.promptsChanged()
}
