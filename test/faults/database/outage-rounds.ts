/** Outages of one server under load, one after the other, and what its clients experienced. */
import type postgres from 'postgres'
import type { ServerProcess } from '#test/support/processes/server'
import { type Effects, readEffects } from '../effects.ts'
import type { Tenant } from '../fleet.ts'
import { verdictOn } from '../ledger.ts'
import { type Load, type Refusal, startLoad } from '../load.ts'
import type { End } from './outages.ts'

export interface Subject<Kind extends string> {
  owner: postgres.Sql
  process: ServerProcess
  tenants: Tenant[]
  begin(kind: Kind): Promise<End>
  /** Whether the database still answers reads during this outage: then so must the server. */
  readable(kind: Kind): boolean
}

export interface RoundOptions<Kind extends string> {
  /** For each workspace. */
  clients: number
  seed: number
  awayMs: number
  rounds: Kind[]
}

interface Round {
  kind: string
  refusals: Refusal[]
  /**
   * Reads during the outage while the database answered, and those of them that the server refused.
   */
  reads: { asked: number; refused: number }
  /**
   * From the end of the outage until the first acknowledged command, and until every workspace had
   * one.
   */
  firstMs: number
  allMs: number
}

export interface Result {
  rounds: Round[]
  commands: number
  reads: number
  wrong: number
  effects: Effects
  broken: string[]
  /** What took too long; a busy machine can cause it. */
  late: string[]
}

/** What a caller may expect of a server without its database, and once it has it back. */
const ANSWER_WITHIN_MS = 5_000
const BACK_WITHIN_MS = 2_000
/** An answer that takes longer will never come. */
const HUNG_MS = 20_000
const SETTLE_MS = 1_000
const READ_EVERY_MS = 100
const LOOK_WITHIN_MS = 1_000

const ackedSince = (load: Load, since: number): number[] =>
  [...load.latest.values()].filter((at) => at > since).sort((a, b) => a - b)

/** Reads through the server; one counts if the database itself answered before and after it. */
const watchReads = <Kind extends string>({ owner, process, tenants }: Subject<Kind>) => {
  const counts = { asked: 0, refused: 0 }
  let over = false
  // The client never finishes a query whose connection broke.
  const late = () => Bun.sleep(LOOK_WITHIN_MS).then(() => false)
  const answers = () => Promise.race([owner`select 1`.then(Boolean, () => false), late()])
  const headers = { authorization: `Bearer ${tenants[0]!.key}` }
  const read = () =>
    fetch(`${process.url}/api/v1/growth/overview`, {
      headers,
      signal: AbortSignal.timeout(HUNG_MS),
    }).then(({ ok }) => ok)
  const watching = (async () => {
    for (; !over; await Bun.sleep(READ_EVERY_MS)) {
      if (!(await answers())) continue
      const served = await read().catch(() => false)
      if (!(await answers())) continue
      counts.asked++
      if (!served) counts.refused++
    }
  })()
  return {
    async stop() {
      over = true
      await watching
      return counts
    },
  }
}

const oneRound = async <Kind extends string>(
  subject: Subject<Kind>,
  load: Load,
  { kind, awayMs }: { kind: Kind; awayMs: number },
) => {
  await Bun.sleep(SETTLE_MS)
  const seen = load.refusals.length
  const end = await subject.begin(kind)
  const watch = subject.readable(kind) ? watchReads(subject) : undefined
  await Bun.sleep(awayMs)
  const reads = (await watch?.stop()) ?? { asked: 0, refused: 0 }
  await end()
  const back = Date.now()
  const { length } = subject.tenants
  const until = back + HUNG_MS
  while (ackedSince(load, back).length < length && Date.now() < until) await Bun.sleep(10)
  const acked = ackedSince(load, back)
  const allMs = acked.length < length ? Number.POSITIVE_INFINITY : Date.now() - back
  // Taken from the commands themselves, as a client's later ones replace earlier ones in `latest`.
  const first = Math.min(
    ...load.sent.map(({ at }) => at ?? Number.POSITIVE_INFINITY).filter((at) => at > back),
  )
  const round: Round = {
    kind,
    refusals: load.refusals.slice(seen),
    reads,
    firstMs: first - back,
    allMs,
  }
  return round
}

const brokenIn = ({ kind, refusals, reads, allMs }: Round): string[] => {
  const hung = refusals.filter(({ status, ms }) => status === 0 && ms >= HUNG_MS)
  const cut = refusals.filter(({ status, ms }) => status === 0 && ms < HUNG_MS)
  const bare = refusals.filter(
    ({ status, retryAfter }) => status === 503 && !(Number(retryAfter) >= 1),
  )
  return [
    ...(refusals.length === 0 ? [`${kind}: no request was refused, so there was no outage`] : []),
    ...(hung.length > 0 ? [`${kind}: ${hung.length} requests were never answered`] : []),
    ...(cut.length > 0 ? [`${kind}: ${cut.length} requests ended without an answer`] : []),
    ...(bare.length > 0 ? [`${kind}: ${bare.length} 503 answers without Retry-After`] : []),
    ...(reads.refused > 0
      ? [
          `${kind}: ${reads.refused} of ${reads.asked} reads were refused although the database answered`,
        ]
      : []),
    ...(Number.isFinite(allMs) ? [] : [`${kind}: some workspaces were not served again`]),
  ]
}

const lateIn = ({ kind, refusals, firstMs }: Round): string[] => {
  const slow = refusals.filter(({ ms }) => ms > ANSWER_WITHIN_MS)
  const worst = Math.max(0, ...slow.map(({ ms }) => ms))
  return [
    ...(slow.length > 0
      ? [
          `${kind}: ${slow.length} answers took longer than ${ANSWER_WITHIN_MS} ms, up to ${Math.round(worst)}`,
        ]
      : []),
    ...(firstMs > BACK_WITHIN_MS
      ? [`${kind}: the first success came ${firstMs} ms after the database`]
      : []),
  ]
}

/** Runs the rounds in order, under one load; the server must survive all of them. */
export async function runRounds<Kind extends string>(
  subject: Subject<Kind>,
  options: RoundOptions<Kind>,
): Promise<Result> {
  const { clients, seed, awayMs } = options
  const { owner, process, tenants } = subject
  const urls = () => [process.url]
  const giveUpMs = awayMs + 2 * HUNG_MS
  const load = startLoad({
    urls,
    tenants,
    clients,
    pauseMs: 10,
    name: `d${seed}`,
    patienceMs: HUNG_MS,
    giveUpMs,
  })
  const rounds: Round[] = []
  for (const kind of options.rounds) rounds.push(await oneRound(subject, load, { kind, awayMs }))
  await load.stop()
  const effects = await readEffects(owner, load.sent)
  const { acknowledged: _, ...faults } = effects
  const restarts = await Promise.race([process.exited.then(() => 1), Promise.resolve(0)])
  const { broken } = verdictOn({
    counts: {},
    never: { ...faults, restarts },
    broken: rounds.flatMap(brokenIn),
    wrong: load.wrong,
  })
  const { length: wrong } = load.wrong
  return {
    rounds,
    commands: load.sent.length,
    reads: load.reads,
    wrong,
    effects,
    broken,
    late: rounds.flatMap(lateIn),
  }
}
