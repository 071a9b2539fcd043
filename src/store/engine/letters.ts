/**
 * The transactions of letters. Letters that callers wait for share them across workspaces; all
 * others have connections of their own beside those, so that however many of one sort are slow, the
 * others go on.
 */
import { type Crowd, FairLimit, type Limits } from '#kernel/fair-limit'
import type { Demand } from '#kernel/waiting-line'
import type { Connect } from './session.ts'
import { LOOK_EVERY_MS, NotShared, type Patience, type Seat, SharedTransaction } from './shared.ts'
import { openSessions, type Sessions, type Transaction } from './transaction.ts'

export interface Letters {
  /**
   * One transaction of a tenant. Transactions with a waiting caller go first. `kind`: what its
   * letter does, if it may share its transaction with letters of other tenants. Then it may also
   * reject with `NotShared` (shared.ts).
   */
  letter<T>(
    tenantId: string,
    body: (sql: Transaction) => PromiseLike<T>,
    demand?: Demand,
    kind?: string,
  ): Promise<T>
  /** Notes that a caller now waits for a transaction that began unasked, or for one behind it. */
  hurry(tenantId: string): void
  /** Something urgent waits for the tenant's transaction: no other tenant joins it any more. */
  urgent(tenantId: string): void
}

/** A pool of connections, as it is used at the moment. */
export interface PoolUse {
  name: string
  /** How many turns there are at once, how many are taken, and how many wait for one. */
  size: number
  used: number
  waiting: number
  /** How many messages with statements were sent. */
  sent: number
}

export const useOf = (
  name: string,
  size: number,
  { used, waiters }: Pick<FairLimit, 'used' | 'waiters'>,
  sent: number,
): PoolUse => ({ name, size, used, waiting: waiters, sent })

interface LettersOptions {
  /** How many transactions run at once. */
  max: number
  crowd: Crowd
  waiting: Pick<Limits, 'bound' | 'withinMs'>
  connect: Connect
  patience?: Patience | undefined
}

/** The share of the connections whose transactions are shared. */
const SHARED = 1 / 3
/** With fewer connections, each letter has its own. */
const SHARED_FROM = 4

interface OpenLetters extends Letters, AsyncDisposable {
  uses(): PoolUse[]
}

export const openLetters = (options: LettersOptions): OpenLetters => {
  const { max, connect, crowd, waiting } = options
  const shared = max < SHARED_FROM ? 0 : Math.floor(max * SHARED)
  const limit = (total: number) => new FairLimit({ name: 'commands', total, crowd, ...waiting })
  const own = { line: limit(max - shared), sessions: openSessions(max - shared, connect) }
  const together = new SharedTransactions(
    limit(shared),
    openSessions(shared, connect),
    options.patience,
  )
  return {
    letter: <T>(
      tenantId: string,
      body: (sql: Transaction) => PromiseLike<T>,
      demand?: Demand,
      kind?: string,
    ) =>
      shared > 0 && kind !== undefined && together.mayJoin(tenantId, kind)
        ? (together.decide({ tenantId, kind, body }, demand) as Promise<T>)
        : own.line.run(tenantId, () => own.sessions.transaction(body), demand),
    hurry(tenantId) {
      own.line.hurry(tenantId)
      together.hurry(tenantId)
    },
    urgent: (tenantId) => together.urgent(tenantId),
    uses: () => [
      useOf('letters', max - shared, own.line, own.sessions.sent()),
      ...(shared > 0 ? [together.use(shared)] : []),
    ],
    async [Symbol.asyncDispose]() {
      await Promise.all([own.sessions, together].map((one) => one[Symbol.asyncDispose]()))
    },
  }
}

/** A kind that takes longer than this, in the mean, is slow. */
const SLOW_KIND_MS = 100
/** The weight of a kind's latest letter in its pace: one slow letter does not make a slow kind. */
const LATEST = 1 / 4
/** How long a workspace that made a transaction fail does not share. */
const APART_MS = 60_000
/** The same for a slow kind of letter, which may be slow only because the process is young. */
const SLOW_KIND_APART_MS = 5_000
/** How many workspaces and kinds that do not share are remembered. */
const MOST_APART = 1_000

/** The shared transactions of a process, and those who wait for a place in one. */
class SharedTransactions implements AsyncDisposable {
  readonly #open = new Set<SharedTransaction>()
  /** The transactions that wait for a letter which has just been given its place. */
  readonly #expecting: ((seat: Seat) => void)[] = []
  /** The letters that wait or are not yet committed. */
  readonly #seats = new Map<string, Seat>()
  /** Workspaces and kinds that do not share now, until a monotonic time. */
  readonly #apart = new Map<string, number>()
  /** How long letters of each kind took of late, in milliseconds. */
  readonly #pace = new Map<string, number>()
  #looking: Timer | undefined

  constructor(
    private readonly line: FairLimit,
    private readonly sessions: Sessions,
    private readonly patience: Patience = { joinMs: 25, silentMs: 300 },
  ) {}

  mayJoin(tenantId: string, kind: string): boolean {
    if (this.#apart.size === 0) return true
    const now = performance.now()
    return [tenantId, kind].every((name) => (this.#apart.get(name) ?? 0) <= now)
  }

  use(size: number): PoolUse {
    return useOf('shared_letters', size, this.line, this.sessions.sent())
  }

  async decide(
    { tenantId, kind, body }: Pick<Seat, 'tenantId' | 'kind' | 'body'>,
    demand?: Demand,
  ): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const seat: Seat = { tenantId, kind, body, isUrgent: false, isApart: false, resolve, reject }
    this.#seats.set(tenantId, seat)
    try {
      const turn = this.line.enter(tenantId, demand)
      if (turn) await turn
      this.#place(seat)
      return await promise
    } finally {
      if (this.#seats.get(tenantId) === seat) this.#seats.delete(tenantId)
    }
  }

  hurry(tenantId: string): void {
    this.line.hurry(tenantId)
  }

  urgent(tenantId: string): void {
    const seat = this.#seats.get(tenantId)
    if (!seat) return
    seat.isUrgent = true
    for (const shared of this.#open) if (shared.has(seat)) shared.close()
  }

  /**
   * Takes a letter that has got its place into a transaction that waits for it, or a new one. If it
   * no longer shares, only its place goes there.
   */
  #place(seat: Seat): void {
    seat.isApart = !this.mayJoin(seat.tenantId, seat.kind)
    if (seat.isApart) seat.reject(new NotShared())
    const expecting = this.#expecting.shift()
    if (expecting) expecting(seat)
    else if (seat.isApart) this.line.leave(seat.tenantId)
    else void this.#begin(seat)
  }

  async #begin(first: Seat): Promise<void> {
    const shared = new SharedTransaction({
      patience: this.patience,
      isAwaited: () => this.line.waiters > 0,
      following: (last) => this.#following(last),
      elsewhere: (seat) => this.#place(seat),
      took: (seat, ms) => this.#took(seat, ms),
    })
    this.#opened(shared)
    const failure = await this.sessions
      .transaction((sql) => shared.decideAll(sql, first))
      .then(
        () => undefined,
        (cause: unknown) => ({ cause }),
      )
    this.#open.delete(shared)
    if (shared.holder) this.line.leave(shared.holder.tenantId)
    const disturber = shared.tell(failure)
    if (disturber) this.#keepApart(disturber.tenantId, APART_MS)
  }

  #following(last: Seat): Promise<Seat> {
    const { promise, resolve } = Promise.withResolvers<Seat>()
    this.#expecting.push(resolve)
    this.line.leave(last.tenantId)
    return promise
  }

  #opened(shared: SharedTransaction): void {
    this.#open.add(shared)
    this.#looking ??= setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  #look(): void {
    for (const shared of this.#open) shared.look()
    if (this.#open.size > 0) return
    clearInterval(this.#looking)
    this.#looking = undefined
  }

  #took({ kind }: Seat, ms: number): void {
    const before = this.#pace.get(kind) ?? 0
    const pace = before + (ms - before) * LATEST
    this.#pace.set(kind, pace)
    if (pace <= SLOW_KIND_MS) return
    this.#pace.delete(kind)
    this.#keepApart(kind, SLOW_KIND_APART_MS)
  }

  #keepApart(name: string, ms: number): void {
    const now = performance.now()
    for (const [one, until] of this.#apart)
      if (until <= now || this.#apart.size >= MOST_APART) this.#apart.delete(one)
    this.#apart.set(name, now + ms)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#looking)
    await this.sessions[Symbol.asyncDispose]()
  }
}
