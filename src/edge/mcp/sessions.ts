/** All sessions of this process: found by id and owner, bounded in number, and swept when nobody uses them any more. */

import { AppError } from '#kernel/errors'
import { randomBase62 } from '#kernel/ids'
import type { Log } from '#kernel/log'
import { type McpCaller, nameOf } from './caller.ts'
import type { Calls } from './calls.ts'
import { EventLog } from './events.ts'
import { McpSession, type Surface } from './session.ts'
import type { View } from './view.ts'

export interface McpLimits {
  /** Sessions of one key, or listening requests. */
  perCaller: number
  /** Requests of one key that run at the same time. */
  callsPerCaller: number
  /** Sessions of all keys of one workspace, or listening requests: the others need room too. */
  perTenant: number
  perProcess: number
  /** How long a session outlives its last use. */
  idleMs: number
  sweepMs: number
}

export const mcpLimits: McpLimits = {
  perCaller: 64,
  callsPerCaller: 128,
  perTenant: 500,
  perProcess: 2_000,
  idleMs: 1_800_000,
  sweepMs: 5_000,
}

const EVENTS = { perSession: 4_194_304, perProcess: 67_108_864 }

export interface SessionsDeps {
  surface: Surface
  log: Log
  limits: McpLimits
  calls: Calls
  /** The name of this process among those of the deployment. */
  incarnation(): string
  /** What callers of before may now, in their order; undefined: nothing any more. */
  standing(callers: readonly McpCaller[]): Promise<(McpCaller | undefined)[]>
}

/** `<incarnation>.<secret>`: whichever process is asked can tell whose it is. */
export const nodeIn = (sessionId: string): string | undefined => /^([0-9a-f-]{36})\.[0-9A-Za-z]{32}$/.exec(sessionId)?.[1]

export class Sessions implements AsyncDisposable {
  readonly #all = new Map<string, McpSession>()
  readonly #events = new EventLog(EVENTS)
  readonly #timer: Timer
  #ending = false

  constructor(private readonly deps: SessionsDeps) {
    this.#timer = setInterval(
      () => void this.sweep().catch((cause) => deps.log.warn({ err: cause }, 'sessions were not swept')),
      deps.limits.sweepMs,
    )
  }

  get size(): number {
    return this.#all.size
  }

  /** A session of this caller; another's is as unknown as one that never was. */
  find(id: string, caller: McpCaller): McpSession | undefined {
    const session = this.#all.get(id)
    return session && nameOf(session.caller) === nameOf(caller) ? session : undefined
  }

  has(id: string): boolean {
    return this.#all.has(id)
  }

  /** Makes room if need be: the session that was not used for longest goes. Throws when all are in use. */
  async open(caller: McpCaller, view: View): Promise<McpSession> {
    if (this.#ending) throw new AppError('unavailable', 'the server is stopping, try again')
    this.#makeRoom(caller)
    const id = `${this.deps.incarnation()}.${randomBase62(32)}`
    const { surface, calls } = this.deps
    const events = this.#events.ofSession()
    const session = new McpSession({ id, caller, view, surface, calls, events, onClose: () => this.#all.delete(id) })
    this.#all.set(id, session)
    await session.connect()
    return session
  }

  /** Ends what has been idle for too long and what belongs to keys that died; tells those who listen of what they may do now. */
  async sweep(): Promise<void> {
    const before = performance.now() - this.deps.limits.idleMs
    const idle = [...this.#all.values()].filter(({ idleSince }) => idleSince !== undefined && idleSince < before)
    await Promise.all(idle.map((session) => session[Symbol.asyncDispose]()))
    const listening = [...this.#all.values()].filter((session) => session.listening)
    if (listening.length === 0) return
    const standing = await this.deps.standing(listening.map(({ caller }) => caller))
    await Promise.all(
      listening.map((session, index) => {
        const caller = standing[index]
        return caller ? session.noteAccess(caller) : session[Symbol.asyncDispose]()
      }),
    )
  }

  /** From now on no session begins. */
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
    const ofTenant = [...this.#all.values()].filter((session) => session.caller.tenantId === caller.tenantId)
    const own = ofTenant.filter((session) => nameOf(session.caller) === nameOf(caller))
    const full = own.length >= perCaller ? own : ofTenant
    if ((own.length >= perCaller || ofTenant.length >= perTenant) && !this.#endLongestIdle(full))
      throw new AppError('rate_limited', 'mcp_sessions', { retryAfter: 30 })
    if (this.#all.size >= perProcess && !this.#endLongestIdle(this.#ofLargestTenant()))
      throw new AppError('unavailable', 'too many MCP sessions are open, try again', { retryAfter: 30 })
  }

  /** False: all are in use. */
  #endLongestIdle(sessions: McpSession[]): boolean {
    const [first] = sessions.filter(({ idleSince }) => idleSince !== undefined).sort((a, b) => a.idleSince! - b.idleSince!)
    if (!first) return false
    this.#all.delete(first.id)
    void first[Symbol.asyncDispose]()
    return true
  }

  /** Of those with idle sessions, whoever has most gives way, so that no workspace can drive out the others. */
  #ofLargestTenant(): McpSession[] {
    const byTenant = Map.groupBy(this.#all.values(), ({ caller }) => caller.tenantId)
    const withIdle = [...byTenant.values()].filter((of) => of.some(({ idleSince }) => idleSince !== undefined))
    return withIdle.sort((a, b) => b.length - a.length)[0] ?? []
  }
}
