/**
 * Actors on a real database without the rest of the server, with lanes, clock and failpoints from
 * the test.
 */

import postgres from 'postgres'
import type { ActorDeps } from '#actors/engine/deps'
import type { Lane, LaneContext, UnrepeatableLane } from '#actors/engine/lane'
import { Runtime, type RuntimeDeps } from '#actors/engine/runtime'
import { gateHook } from '#decisions/gate'
import { consequences } from '#decisions/growth/follow-up'
import { workTable } from '#decisions/work'
import { systemClock } from '#kernel/clock'
import { noFailpoints } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { soleKey } from '#kernel/secret-keys'
import { insertTenant } from '#store/app/tenants'
import { type ConnectionOptions, type Db, openDb } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { freshDb, TEST_SECRET } from '../database/db.ts'
import { eventually } from '../eventually.ts'
import { newGate } from './letters.ts'

export interface Actors extends AsyncDisposable {
  runtime: Runtime
  db: Db
  options: ConnectionOptions
}

/** What a test replaces: lanes, clock, failpoints, durations. */
export type ActorsOptions = Partial<RuntimeDeps & Pick<ActorDeps, 'lanes'>>

export interface Store extends AsyncDisposable {
  options: ConnectionOptions
  /** The database with its owner's rights, past every policy. */
  owner: postgres.Sql
  newTenant(): Promise<string>
  /**
   * Clears wake-up times and ownership, so that one test does not wake what another left behind.
   */
  quiet(): Promise<void>
  /** Until disposed of, no connection can be opened; open ones stay. */
  shut(): Promise<AsyncDisposable>
}

const log = createLog(process.env.TEST_LOG ?? 'silent')

/** An empty database for any number of runtimes. */
export async function actorStore(): Promise<Store> {
  await using stack = new AsyncDisposableStack()
  const { options } = stack.use(await freshDb())
  const owner = postgres({ ...options, max: 1, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
  const db = stack.use(openDb({ ...options, max: 1 }))
  const owned = stack.move()
  return {
    options,
    owner,
    async newTenant() {
      const id = newId()
      await insertTenant(db, { id, name: 'test', plan: 'team' })
      return id
    },
    async quiet() {
      await owner`delete from work`
      await owner`update actor set wake_at = null, owner = null`
      await owner`delete from node`
    },
    async shut() {
      const server = postgres({ ...options, database: 'postgres', max: 1 })
      const allow = (word: 'true' | 'false') =>
        server`alter database ${server(options.database!)} with allow_connections ${server.unsafe(word)}`
      await allow('false')
      return {
        async [Symbol.asyncDispose]() {
          await allow('true')
          await server.end()
        },
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/**
 * The actors of one process on that database. Disposing shuts them down, unless they were abandoned
 * before.
 */
export async function actorsOn(
  { options }: Pick<Store, 'options'>,
  deps: ActorsOptions = {},
): Promise<Actors> {
  await using stack = new AsyncDisposableStack()
  const db = stack.use(openDb({ ...options, max: 4 }))
  const { lanes = [], ...more } = deps
  const usual = {
    kinds: workTable,
    gate: gateHook,
    consequences,
    clock: systemClock,
    failpoints: noFailpoints,
    replyWithinMs: 10_000,
    idleMs: 300_000,
    sweepMs: 50,
    url: '',
    keys: soleKey(TEST_SECRET),
  }
  const runtime = stack.use(await new Runtime({ ...usual, db, options, log, ...more }).start(lanes))
  const owned = stack.move()
  return { runtime, db, options, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Ends these actors the way a kill of their process would, and makes it visible to all at once. */
export const kill = async ({ runtime, db }: Actors, { owner }: Store): Promise<void> => {
  await runtime.abandon()
  await db[Symbol.asyncDispose]()
  await owner`delete from node`
}

/** A run of a fake lane, which lasts until the test ends it. */
interface Run {
  refId: string
  context: LaneContext
  finish(outcome?: string): void
  fail(cause: Error): void
}

interface Job {
  refId: string
}

export interface FakeLane extends UnrepeatableLane<Job, string> {
  /** Runs that have begun but not ended. */
  running: Map<string, Run>
  /** Record ids in the order in which their claims started. */
  started: string[]
  /** Resolves when the record's lane runs. */
  runOf(refId: string): Promise<Run>
}

export interface FakeLaneOptions {
  kind?: string
  /** Ends each run as soon as it begins. */
  instant?: true
  /** Whether runs continue after they are aborted. */
  deaf?: true
  /** Effects of the settling letter, besides deleting the row and counting `settled:<ref>`. */
  onSettle?: (work: Work, outcome: string) => Effects
  claim?: Lane<Job, string>['claim']
  /** The outcome of a run that threw; without it `orphaned` handles the row. */
  crashed?: (cause: unknown) => string
}

const counted = (key: string): Effects => ({ spend: [{ key, period: 'test', amount: 1 }] })

const whenAborted = (signal: AbortSignal, act: () => void): void => {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act)
}

/**
 * Counts what happens to each record under `settled:<ref>` and `orphaned:<ref>`; orphans go back to
 * the queue.
 */
export const fakeLane = (options: FakeLaneOptions = {}): FakeLane => {
  const running = new Map<string, Run>()
  const started: string[] = []
  const waiting = new Map<string, (run: Run) => void>()
  const begin = (refId: string, context: LaneContext): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const run: Run = {
      refId,
      context,
      finish: (outcome = 'done') => resolve(outcome),
      fail: reject,
    }
    running.set(refId, run)
    waiting.get(refId)?.(run)
    if (options.instant) run.finish()
    if (!options.deaf) whenAborted(context.signal, () => resolve('aborted'))
    return promise.finally(() => running.delete(refId))
  }
  return {
    kind: (options.kind ?? 'fake') as Work['kind'],
    leaseMs: 20_000,
    priority: 'background',
    running,
    started,
    runOf: (refId) => {
      const known = running.get(refId)
      return known ? Promise.resolve(known) : new Promise((resolve) => waiting.set(refId, resolve))
    },
    claim:
      options.claim ??
      (async (_sql, _gate, work) => ({
        job: { refId: work.ref_id },
        decision: { reply: undefined },
      })),
    run({ refId }, context) {
      started.push(refId)
      return begin(refId, context)
    },
    async settle(_sql, gate, { work, outcome }) {
      if (outcome === 'aborted')
        return {
          reply: undefined,
          effects: {
            requeued: [{ id: work.id, runAt: gate.now }],
            ...counted(`aborted:${work.ref_id}`),
          },
        }
      const effects = {
        ...counted(`settled:${work.ref_id}`),
        settled: [work.id],
        ...options.onSettle?.(work, outcome),
      }
      return {
        reply: undefined,
        effects,
        answers: [{ refId: work.ref_id, with: { status: 200, body: outcome } }],
      }
    },
    crashed: (cause) => options.crashed?.(cause),
    async orphaned(_sql, gate, work) {
      return {
        reply: undefined,
        effects: {
          requeued: [{ id: work.id, runAt: gate.now }],
          ...counted(`orphaned:${work.ref_id}`),
        },
      }
    },
  }
}

/** The counters of a tenant, as its owner sees them. */
export const counters = async (
  { owner }: Pick<Store, 'owner'>,
  tenantId: string,
): Promise<Record<string, number>> => {
  const rows = await owner`select key, used from counter where tenant_id = ${tenantId}`
  return Object.fromEntries(rows.map(({ key, used }) => [key, used]))
}

/** Starts actors on a store that the tests of a file share, and tells what became of their work. */
export const actorsIn = (store: Store) => {
  const countOf = async (tenant: string, key: string) => (await counters(store, tenant))[key]
  return {
    countOf,
    becomes: (tenant: string, key: string, value: number) =>
      eventually(
        () => countOf(tenant, key),
        (count) => count === value,
      ),
    workOf: async (tenant: string) =>
      (await store.owner`select * from work where tenant_id = ${tenant} order by id`) as never[],
    async start(options: ActorsOptions = {}): Promise<Actors & { tenant: string }> {
      const actors = await actorsOn(store, options)
      return Object.assign(actors, { tenant: await store.newTenant() })
    },
  }
}

/** A lane that hangs in each claim. `claiming` resolves with the first. */
export const laneThatHangs = () => {
  const { open, opened: claiming } = newGate()
  const lane = fakeLane({
    async claim() {
      open()
      await new Promise(() => {})
      return { decision: { reply: undefined } }
    },
  })
  return { lane, claiming }
}
