/** The sessions of this process: found by id and owner, bounded in number, and ended when idle. */
import { AppError } from '#kernel/errors'
import { randomBase62 } from '#kernel/ids'
import type { Log } from '#kernel/log'
import { callerId, type McpCaller } from './caller.ts'
import type { Calls } from './calls.ts'
import { EventLog } from './events.ts'
import { ModuleWatch } from './module-watch.ts'
import type { ServerFactory } from './server.ts'
import { McpSession } from './session.ts'
import type { View } from './view.ts'

export interface McpLimits {
  /** How many sessions, or open subscriptions, a key may have. */
  perCaller: number
  /** How many requests of a key may run at once. */
  callsPerCaller: number
  /**
   * How many more may run if they only call urgent tools, because the kill switch must not wait for
   * a key's other calls.
   */
  urgentCallsPerCaller: number
  /** How many sessions, or open subscriptions, all keys of a workspace may have. */
  perTenant: number
  /** How many requests of all keys of a workspace may run at once, not counting the urgent ones. */
  callsPerTenant: number
  perProcess: number
  /** How long a session lives after its last use. */
  idleMs: number
  /**
   * How long after its last use a session is unloaded. An unloaded session is kept, but takes
   * little memory.
   */
  unloadMs: number
  sweepMs: number
}

export const mcpLimits: McpLimits = {
  perCaller: 64,
  callsPerCaller: 128,
  urgentCallsPerCaller: 16,
  perTenant: 500,
  callsPerTenant: 512,
  perProcess: 2_000,
  idleMs: 1_800_000,
  unloadMs: 120_000,
  sweepMs: 5_000,
}

/** In characters of JSON. */
const EVENTS = { perSession: 4_194_304, perProcess: 67_108_864 }

export interface SessionsDeps {
  servers: ServerFactory
  log: Log
  limits: McpLimits
  calls: Calls
  /** The id of this process. */
  incarnation(): string
  /**
   * Earlier callers with their current access, in the same order. Undefined for those who have lost
   * it.
   */
  refresh(callers: readonly McpCaller[]): Promise<(McpCaller | undefined)[]>
  /** The modules of tools that a workspace has enabled. */
  modulesOf(tenantId: string): Promise<ReadonlySet<string>>
}

/** A session id is `<incarnation>.<secret>`, which tells any process where the session lives. */
export const nodeIn = (sessionId: string): string | undefined =>
  /^([0-9a-f-]{36})\.[0-9A-Za-z]{32}$/.exec(sessionId)?.[1]

export class McpSessionRegistry implements AsyncDisposable {
  readonly #all = new Map<string, McpSession>()
  readonly #events = new EventLog(EVENTS)
  readonly #timer: Timer
  readonly #modules: ModuleWatch
  #ending = false

  constructor(private readonly deps: SessionsDeps) {
    this.#modules = new ModuleWatch((tenantId) => deps.modulesOf(tenantId))
    this.#timer = setInterval(
      () =>
        void this.sweep().catch((cause) =>
          deps.log.warn({ err: cause }, 'could not sweep MCP sessions'),
        ),
      deps.limits.sweepMs,
    )
  }

  get size(): number {
    return this.#all.size
  }

  /**
   * A session of this caller. Undefined both for an unknown id and for another caller's session.
   */
  find(id: string, caller: McpCaller): McpSession | undefined {
    const session = this.#all.get(id)
    return session && callerId(session.caller) === callerId(caller) ? session : undefined
  }

  has(id: string): boolean {
    return this.#all.has(id)
  }

  /**
   * If there is no room, ends the session that has been idle longest. Throws `rate_limited` or
   * `unavailable` if all are in use.
   */
  async open(caller: McpCaller, view: View): Promise<McpSession> {
    if (this.#ending) throw new AppError('unavailable', 'the server is stopping, try again')
    this.#makeRoom(caller)
    const id = `${this.deps.incarnation()}.${randomBase62(32)}`
    const { servers, calls } = this.deps
    const events = this.#events.ofSession(caller.tenantId)
    const session = new McpSession({
      id,
      caller,
      view,
      servers,
      calls,
      events,
      onClose: () => this.#all.delete(id),
    })
    this.#all.set(id, session)
    await session.connect()
    return session
  }

  /**
   * Ends sessions that have been idle too long or whose key is no longer valid. Notifies the other
   * open streams of changed access and modules.
   */
  async sweep(): Promise<void> {
    const { idleMs, unloadMs } = this.deps.limits
    await Promise.all(this.#idleFor(idleMs).map((session) => session[Symbol.asyncDispose]()))
    for (const session of this.#idleFor(unloadMs)) session.unload()
    const listening = [...this.#all.values()].filter((session) => session.listening)
    if (listening.length === 0) return
    const current = await this.deps.refresh(listening.map(({ caller }) => caller))
    await Promise.all(
      listening.map((session, index) => {
        const caller = current[index]
        return caller ? session.noteAccess(caller) : session[Symbol.asyncDispose]()
      }),
    )
    await this.#modules.sweep(listening.map(({ lister }) => lister))
  }

  #idleFor(ms: number): McpSession[] {
    const before = performance.now() - ms
    return [...this.#all.values()].filter(
      ({ idleSince }) => idleSince !== undefined && idleSince < before,
    )
  }

  /** Refuses new sessions from now on. */
  refuse(): void {
    this.#ending = true
  }

  /** Closes every stream. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending = true
    clearInterval(this.#timer)
    await Promise.all([...this.#all.values()].map((session) => session[Symbol.asyncDispose]()))
  }

  #makeRoom(caller: McpCaller): void {
    const { perCaller, perTenant, perProcess } = this.deps.limits
    const ofTenant = [...this.#all.values()].filter(
      (session) => session.caller.tenantId === caller.tenantId,
    )
    const own = ofTenant.filter((session) => callerId(session.caller) === callerId(caller))
    const full = own.length >= perCaller ? own : ofTenant
    if ((own.length >= perCaller || ofTenant.length >= perTenant) && !this.#endLongestIdle(full))
      throw new AppError('rate_limited', 'mcp_sessions', { retryAfter: 30 })
    if (
      this.#all.size >= perProcess &&
      !this.#largestGivesUp(ofTenant.length) &&
      !this.#endLongestIdle(this.#ofLargestWithIdle())
    )
      throw new AppError('unavailable', 'too many MCP sessions are open, try again', {
        retryAfter: 30,
      })
  }

  /** Returns false if all are in use. */
  #endLongestIdle(sessions: McpSession[]): boolean {
    const [first] = sessions
      .filter(({ idleSince }) => idleSince !== undefined)
      .sort((a, b) => a.idleSince! - b.idleSince!)
    if (!first) return false
    this.#end(first)
    return true
  }

  #end(session: McpSession): void {
    this.#all.delete(session.id)
    void session[Symbol.asyncDispose]()
  }

  /**
   * Has the workspace with the most sessions end one for a workspace that has fewer: an idle one,
   * or otherwise the last one that only listens. This way, no workspace can crowd out the others.
   */
  #largestGivesUp(own: number): boolean {
    const [largest = []] = this.#byTenant()
    if (largest.length <= own + 1) return false
    if (this.#endLongestIdle(largest)) return true
    const last = largest.findLast(({ isCalling }) => !isCalling)
    if (last) this.#end(last)
    return last !== undefined
  }

  /** The largest workspace among those with an idle session. */
  #ofLargestWithIdle(): McpSession[] {
    return this.#byTenant().find((of) => of.some(({ idleSince }) => idleSince !== undefined)) ?? []
  }

  /** The sessions of each workspace, the largest workspace first. */
  #byTenant(): McpSession[][] {
    const byTenant = Map.groupBy(this.#all.values(), ({ caller }) => caller.tenantId)
    return [...byTenant.values()].sort((a, b) => b.length - a.length)
  }
}
