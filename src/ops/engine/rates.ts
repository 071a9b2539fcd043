/** Request rates by plan, counted in this process and without a statement. */
import { isExempt, type Op, readsOnly } from '#contract/op'
import {
  credentialRateOf,
  type RateKey,
  type RatePlan,
  rateAllowance,
  rateOf,
} from '#domain/app/rates'
import type { Allowance } from '#kernel/allowance'
import { Buckets, type Rate } from '#kernel/buckets'
import type { Clock } from '#kernel/clock'
import { fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { ratePlansOf } from '#store/app/tenants'
import type { Db } from '#store/engine/db'
import type { RatedCaller, Rates } from './call.ts'

export const unlimitedRates: Rates = {
  count: () => [],
  messages: () => [],
  letters: () => [],
  signIn: () => {},
}

/** Nobody connects more accounts by hand, and nobody is to guess passwords through us. */
const SIGN_INS: Rate = { perSecond: 20 / 3_600, burst: 10 }
/** To one account: a network that counts many that fail keeps its owner out, too. */
const ACCOUNT_SIGN_INS: Rate = { perSecond: 5 / 3_600, burst: 5 }

/** Workspaces and credentials remembered. */
const MAX_BUCKETS = 200_000
/** How soon a changed plan takes effect. */
const REFRESH_MS = 2_000

interface Limit {
  key: RateKey
  bucket: string
  rate: Rate
}

export interface RatesDeps {
  db: Db
  clock: Clock
  log: Log
}

export const createRates = ({ db, clock, log }: RatesDeps): Rates & Disposable => {
  const buckets = new Buckets(clock.monotonic, MAX_BUCKETS)
  const book = new PlanBook({ db, clock, log })
  const limitsOf = (
    { tenantId, principal }: RatedCaller,
    plan: RatePlan,
    keys: RateKey[],
  ): Limit[] =>
    keys.flatMap((key) => {
      const own = credentialRateOf(plan, key)
      const ofCredential = own ? [{ key, bucket: `${key} ${principal.id}`, rate: own }] : []
      return [{ key, bucket: `${key} ${tenantId}`, rate: rateOf(plan, key) }, ...ofCredential]
    })
  const allowancesOf = (limits: Limit[]): Allowance[] =>
    limits.map(({ key, bucket, rate }) => rateAllowance(key, rate, buckets.left(bucket, rate)))
  /** Takes from all limits, or from none and throws. */
  const take = (caller: RatedCaller, keys: RateKey[], amount: number): Allowance[] => {
    if (!caller.plan || caller.forwarded || keys.length === 0 || amount === 0) return []
    const limits = limitsOf(caller, book.of(caller.tenantId, caller.plan), keys)
    for (const { key, bucket, rate } of limits) {
      const wait = buckets.wait(bucket, rate, amount)
      if (wait > 0)
        fail('rate_limited', key, { retryAfter: wait, allowances: tightest(allowancesOf(limits)) })
    }
    for (const { bucket, rate } of limits) buckets.take(bucket, rate, amount)
    return tightest(allowancesOf(limits))
  }
  return {
    count: (o, caller) => take(caller, keysOf(o, caller), 1),
    messages: (caller, amount) => take(caller, ['requests'], amount),
    letters: (caller, amount) => take(caller, ['commands'], amount),
    signIn(tenantId, account) {
      const name = account?.trim().replace(/^@/, '').toLowerCase()
      const all: [string, Rate][] = [[`sign-ins ${tenantId}`, SIGN_INS]]
      if (name !== undefined) all.push([`sign-ins ${tenantId} ${name}`, ACCOUNT_SIGN_INS])
      const wait = Math.max(...all.map(([bucket, rate]) => buckets.wait(bucket, rate)))
      if (wait > 0) fail('rate_limited', 'network', { retryAfter: Math.ceil(wait) })
      for (const [bucket, rate] of all) buckets.take(bucket, rate)
    },
    [Symbol.dispose]: () => book[Symbol.dispose](),
  }
}

const keysOf = (o: Pick<Op, 'method' | 'exempt'>, { surface }: RatedCaller): RateKey[] => {
  if (isExempt(o, 'rates')) return []
  return [
    ...(surface === 'mcp' ? [] : (['requests'] as const)),
    ...(readsOnly(o) ? [] : (['commands'] as const)),
  ]
}

/** For each name the limit with the least left: the credential's own or its workspace's. */
const tightest = (all: Allowance[]): Allowance[] => {
  const byName = new Map<string, Allowance>()
  for (const one of all)
    if (one.left < (byName.get(one.name)?.left ?? Number.POSITIVE_INFINITY))
      byName.set(one.name, one)
  return [...byName.values()]
}

/** The plans of recently active workspaces, refreshed every `REFRESH_MS`. */
class PlanBook implements Disposable {
  #plans = new Map<string, RatePlan>()
  #active = new Set<string>()
  #timer: Disposable | undefined
  /** When the plans were last read, in monotonic milliseconds. */
  #readAt = Number.NEGATIVE_INFINITY
  #ended = false

  constructor(private readonly deps: RatesDeps) {}

  /** `known`: the plan from when the credential was looked up, perhaps long ago. */
  of(tenantId: string, known: RatePlan): RatePlan {
    this.#active.add(tenantId)
    this.#arm()
    const plan = this.#plans.get(tenantId)
    if (!plan) this.#plans.set(tenantId, known)
    return plan ?? known
  }

  /** Refreshes at once after a pause without requests, when the known plans are older. */
  #arm(): void {
    if (this.#ended || this.#timer) return
    const { clock } = this.deps
    this.#timer = clock.after(
      Math.max(0, this.#readAt + REFRESH_MS - clock.monotonic()),
      () => void this.#refresh(),
    )
  }

  /** One statement for the workspaces active since the last refresh; forgets the others. */
  async #refresh(): Promise<void> {
    const active = [...this.#active]
    this.#active.clear()
    this.#readAt = this.deps.clock.monotonic()
    try {
      this.#plans = await ratePlansOf(this.deps.db, active)
    } catch (cause) {
      this.deps.log.debug({ err: cause }, 'could not refresh plans; rates stay as they are')
    }
    this.#timer = undefined
    if (this.#active.size > 0) this.#arm()
  }

  [Symbol.dispose](): void {
    this.#ended = true
    this.#timer?.[Symbol.dispose]()
  }
}
