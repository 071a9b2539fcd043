/**
 * A server under load whose database goes: refusing, silent, cutting every connection, or with none to give. It answers 503
 * at once, loses nothing, and serves again by itself. `npm run fault:database -- --rounds 4 --awayMs 30000 --seed 7`.
 */
import type postgres from 'postgres'
import { type Fleet, type Member, startFleet } from './fleet.ts'
import { readLedger } from './ledger.ts'
import { type Load, type Refusal, startLoad } from './load.ts'
import { alone, type Finished, optionsFrom } from './own-database.ts'

export const outages = ['refused', 'silent', 'reset', 'exhausted'] as const
export type Outage = (typeof outages)[number]

export interface DatabaseOptions {
  tenants: number
  /** Of each workspace. */
  clients: number
  seed: number
  awayMs: number
  rounds: Outage[]
}

/** What a caller may expect of a server without its database, and after it has it back. */
const ANSWER_WITHIN_MS = 5_000
const BACK_WITHIN_MS = 2_000
/** An answer that takes longer than this does not come. */
const HUNG_MS = 20_000
const SETTLE_MS = 1_000
const RESET_EVERY_MS = 200

/** Holds the table that every request of the load needs: each connection of the pools waits for it. */
const holdTable = async (owner: postgres.Sql): Promise<() => Promise<void>> => {
  const held = await owner.reserve()
  await held`begin`
  await held`lock table profile in access exclusive mode`
  return async () => {
    await held`rollback`
    held.release()
  }
}

/** Begins an outage; gives what ends it. */
const begin: Record<Outage, (owner: postgres.Sql, member: Member) => Promise<() => Promise<void>>> = {
  async refused(_, { proxy }) {
    await proxy.refuse()
    return () => proxy.open()
  },
  async silent(_, { proxy }) {
    proxy.stall()
    return () => proxy.open()
  },
  async reset(owner, { role }) {
    const cut = () => owner`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role}`.catch(() => {})
    const timer = setInterval(cut, RESET_EVERY_MS)
    return async () => clearInterval(timer)
  },
  exhausted: holdTable,
}

interface Round {
  outage: Outage
  refusals: Refusal[]
  /** From the end of the outage until the first acknowledged command, and until every workspace had one. */
  firstMs: number
  allMs: number
}

const ackedSince = (load: Load, since: number): number[] => [...load.latest.values()].filter((at) => at > since).sort((a, b) => a - b)

const oneRound = async (
  { owner, members, tenants }: Fleet,
  load: Load,
  { outage, awayMs }: { outage: Outage; awayMs: number },
): Promise<Round> => {
  await Bun.sleep(SETTLE_MS)
  const seen = load.refusals.length
  const end = await begin[outage](owner, members[0]!)
  await Bun.sleep(awayMs)
  await end()
  const back = Date.now()
  let first = Number.POSITIVE_INFINITY
  const until = back + HUNG_MS
  while (ackedSince(load, back).length < tenants.length && Date.now() < until) {
    first = Math.min(first, ackedSince(load, back)[0] ?? first)
    await Bun.sleep(10)
  }
  const acked = ackedSince(load, back)
  const allMs = acked.length < tenants.length ? Number.POSITIVE_INFINITY : Date.now() - back
  return { outage, refusals: load.refusals.slice(seen), firstMs: Math.min(first, acked[0] ?? first) - back, allMs }
}

const brokenIn = ({ outage, refusals, allMs }: Round): string[] => {
  const hung = refusals.filter(({ status, ms }) => status === 0 && ms >= HUNG_MS)
  const cut = refusals.filter(({ status, ms }) => status === 0 && ms < HUNG_MS)
  const bare = refusals.filter(({ status, retryAfter }) => status === 503 && !(Number(retryAfter) >= 1))
  return [
    ...(hung.length > 0 ? [`${outage}: ${hung.length} requests were never answered`] : []),
    ...(cut.length > 0 ? [`${outage}: ${cut.length} requests ended without an answer`] : []),
    ...(bare.length > 0 ? [`${outage}: ${bare.length} answers 503 without Retry-After`] : []),
    ...(Number.isFinite(allMs) ? [] : [`${outage}: some workspaces were not served again`]),
  ]
}

const lateIn = ({ outage, refusals, firstMs }: Round): string[] => {
  const slow = refusals.filter(({ ms }) => ms > ANSWER_WITHIN_MS)
  const worst = Math.max(0, ...slow.map(({ ms }) => ms))
  return [
    ...(slow.length > 0 ? [`${outage}: ${slow.length} answers took longer than ${ANSWER_WITHIN_MS} ms, up to ${Math.round(worst)}`] : []),
    ...(firstMs > BACK_WITHIN_MS ? [`${outage}: the first success came ${firstMs} ms after the database`] : []),
  ]
}

/** `late`: what took too long; a busy machine can cause it, so the caller decides what it means. */
export async function runDatabase({ tenants, clients, seed, awayMs, rounds }: DatabaseOptions): Promise<Finished & { late: string[] }> {
  await using fleet = await startFleet({ servers: 1, tenants })
  const { process } = fleet.members[0]!
  const load = startLoad({
    urls: () => [process.url],
    tenants: fleet.tenants,
    clients,
    pauseMs: 10,
    name: `d${seed}`,
    patienceMs: HUNG_MS,
    giveUpMs: awayMs + 2 * HUNG_MS,
  })
  const done: Round[] = []
  for (const outage of rounds) done.push(await oneRound(fleet, load, { outage, awayMs }))
  await load.stop()
  const { acknowledged, ...faults } = await readLedger(fleet.owner, load.sent)
  const restarts = await Promise.race([process.exited.then(() => 1), Promise.resolve(0)])
  const broken = [...done.flatMap(brokenIn), ...load.wrong]
  for (const [what, count] of Object.entries({ ...faults, restarts })) if (count > 0) broken.push(`${what}: ${count}`)
  const refusals = done.flatMap((round) => round.refusals)
  const counts = {
    seed,
    away_ms: awayMs,
    tenants,
    ...Object.fromEntries(outages.map((outage) => [outage, rounds.filter((round) => round === outage).length])),
    commands: load.sent.length,
    acknowledged,
    reads: load.reads,
    unavailable: refusals.filter(({ status }) => status === 503).length,
    unanswered: refusals.filter(({ status }) => status === 0).length,
    wrong: load.wrong.length,
    ...faults,
    worst_answer_ms: Math.round(Math.max(0, ...refusals.map(({ ms }) => ms))),
    worst_first_success_ms: Math.max(...done.map(({ firstMs }) => firstMs)),
    worst_all_served_ms: Math.max(...done.map(({ allMs }) => allMs)),
  }
  return { counts, broken, late: done.flatMap(lateIn) }
}

if (import.meta.main) {
  const { rounds, ...options } = optionsFrom({ tenants: 12, clients: 4, seed: 1, awayMs: 30_000, rounds: 4 }, process.argv.slice(2))
  await alone('database', async () => {
    const all = Array.from({ length: rounds }, (_, n) => outages[n % outages.length]!)
    const { late, ...finished } = await runDatabase({ ...options, rounds: all })
    return { ...finished, broken: [...finished.broken, ...late] }
  })
}
