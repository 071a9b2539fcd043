/**
 * A server under load whose database fails: it refuses, goes silent, is out of reach, cuts every
 * connection, has none to give, is locked, or has a full disk. The server answers 503 at once,
 * loses nothing, and serves again by itself. `npm run fault:database -- --rounds 8 --awayMs 30000
 * --seed 7`.
 */
import { startFleet } from '../fleet.ts'
import type { Counts, Verdict } from '../ledger.ts'
import { alone } from '../own-database.ts'
import { type Result, type RoundOptions, runRounds } from './outage-rounds.ts'
import { beginOutage, type Outage, outages } from './outages.ts'
import { type Filling, fillings, noSmallDisk, startSmallDisk } from './small-disk.ts'

const kinds = [...outages, ...fillings] as const
export type Kind = (typeof kinds)[number]

export interface DatabaseOptions extends Omit<RoundOptions<Kind>, 'rounds'> {
  tenants: number
  rounds: Kind[]
}

const runOutages = async (
  { tenants, ...options }: Omit<DatabaseOptions, 'rounds'>,
  rounds: Outage[],
): Promise<Result> => {
  await using fleet = await startFleet({ servers: 1, tenants })
  const { owner, tenants: made } = fleet
  const member = fleet.members[0]!
  const subject = {
    owner,
    process: member.process,
    tenants: made,
    begin: (kind: Outage) => beginOutage[kind](owner, member),
  }
  return await runRounds({ ...subject, readable: () => false }, { ...options, rounds })
}

/** What an operator must find in the log. */
const LOGGED: Record<Filling, string> = {
  disk: 'No space left on device',
  wal: 'the disk of the embedded database is full',
}

const runFullDisk = async (
  { tenants, ...options }: Omit<DatabaseOptions, 'rounds'>,
  rounds: Filling[],
) => {
  await using disk = await startSmallDisk(tenants)
  const { owner, process, tenants: made } = disk
  const subject = {
    owner,
    process,
    tenants: made,
    begin: (kind: Filling) => disk.fill(kind),
    readable: () => true,
  }
  const result = await runRounds(subject, { ...options, rounds })
  const unlogged = rounds
    .filter((kind) => !process.output().includes(LOGGED[kind]))
    .map((kind) => `${kind}: the log does not say that the disk is full`)
  const died = process.output().split('the embedded database died').length - 1
  return {
    ...result,
    broken: [...result.broken, ...unlogged],
    disk: { database_deaths: died, worst_room_to_database_ms: disk.worstBackMs() },
  }
}

const isFilling = (kind: Kind): kind is Filling => fillings.some((filling) => filling === kind)

/** The counts of several results, with the faults of the ledger among them. */
const countsOf = (results: Result[]): Counts => {
  const rounds = results.flatMap((result) => result.rounds)
  const refusals = rounds.flatMap((round) => round.refusals)
  const sum = (of: (result: Result) => number): number =>
    results.reduce((all, result) => all + of(result), 0)
  return {
    ...Object.fromEntries(
      kinds.map((kind) => [kind, rounds.filter((round) => round.kind === kind).length]),
    ),
    commands: sum(({ commands }) => commands),
    acknowledged: sum(({ effects }) => effects.acknowledged),
    reads: sum(({ reads }) => reads),
    reads_on_full_disk: rounds.reduce((all, { reads }) => all + reads.asked, 0),
    unavailable: refusals.filter(({ status }) => status === 503).length,
    unanswered: refusals.filter(({ status }) => status === 0).length,
    wrong: sum(({ wrong }) => wrong),
    lost: sum(({ effects }) => effects.lost),
    doubled: sum(({ effects }) => effects.doubled),
    overlapping: sum(({ effects }) => effects.overlapping),
    unfenced: sum(({ effects }) => effects.unfenced),
    overwritten: sum(({ effects }) => effects.overwritten),
    worst_answer_ms: Math.round(Math.max(0, ...refusals.map(({ ms }) => ms))),
    worst_first_success_ms: Math.max(0, ...rounds.map(({ firstMs }) => firstMs)),
    worst_all_served_ms: Math.max(0, ...rounds.map(({ allMs }) => allMs)),
  }
}

export async function runDatabase({ rounds, ...options }: DatabaseOptions): Promise<Verdict> {
  const away = rounds.filter((kind): kind is Outage => !isFilling(kind))
  const full = rounds.filter(isFilling)
  const refusal = full.length > 0 ? await noSmallDisk() : undefined
  const results: Result[] = away.length > 0 ? [await runOutages(options, away)] : []
  let disk: Counts =
    full.length > 0 ? { disk_full: `skipped(${refusal?.replaceAll(' ', '-')})` } : {}
  if (full.length > 0 && refusal === undefined) {
    const { disk: counted, ...result } = await runFullDisk(options, full)
    results.push(result)
    disk = { disk_full: 'tried', ...counted }
  }
  const counts = {
    seed: options.seed,
    away_ms: options.awayMs,
    tenants: options.tenants,
    ...countsOf(results),
    ...disk,
  }
  return {
    counts,
    broken: results.flatMap((result) => result.broken),
    late: results.flatMap((result) => result.late),
  }
}

if (import.meta.main) {
  const defaults = { tenants: 12, clients: 4, seed: 1, awayMs: 30_000, rounds: kinds.length }
  await alone('database', defaults, ({ rounds, ...options }) => {
    const all = Array.from({ length: rounds }, (_, n) => kinds[n % kinds.length]!)
    return runDatabase({ ...options, rounds: all })
  })
}
