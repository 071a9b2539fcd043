/**
 * Servers under load from clients of each of them are lost one after the other: killed, stopped for
 * a while, cut off from the database with all traffic lost or delayed, counted out by mistake, or
 * in a network namespace whose cable is pulled. At the end the database's primary is killed.
 * `npm run fault:ownership -- --rounds 14 --seed 7`.
 */

import { readEffects } from '../effects.ts'
import { type Fleet, type Member, startFleet } from '../fleet.ts'
import { type Verdict, verdictOn } from '../ledger.ts'
import { type Load, startLoad } from '../load.ts'
import { noNamespaces, startSwitch } from '../namespaces.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { type Replicated, startReplicated } from './replicated.ts'
import {
  AFTERWARDS_MS,
  allServed,
  cables,
  type Kind,
  kinds,
  oneRound,
  type Round,
} from './rounds.ts'

export interface OwnershipOptions {
  servers: number
  tenants: number
  seed: number
  /** How long a server hangs or is cut off, at least: until others have all its workspaces. */
  holdMs: number
  /** Kinds that the machine does not allow are left out. */
  rounds: Kind[]
  /** Used instead of a database of its own; after the rounds its primary is killed. */
  replicated?: Replicated
}

/** What an operator may expect: a death shows at once, silence only by the lease. */
const KILL_LIMIT_MS = 2_000
const SILENCE_LIMIT_MS = 6_000
/** What a client may expect of a server that cannot know what it owns. */
const ANSWER_LIMIT_MS = 5_000

/** The server that owns this workspace now. */
const memberOf = async ({ owner, members }: Fleet, tenantId: string): Promise<Member> => {
  const [node] = await owner<
    { url: string }[]
  >`select n.url from actor a join node n on n.incarnation = a.owner
    where a.tenant_id = ${tenantId}`
  return members.find(({ process }) => process.url === node?.url) ?? members[0]!
}

/**
 * Milliseconds from the death of the primary until every server has served every workspace from the
 * promoted standby.
 */
const failOver = async (fleet: Fleet, load: Load, replicated: Replicated): Promise<number> => {
  const since = Date.now()
  await replicated.failOver(fleet.members)
  return (await allServed(fleet, load, Date.now())) ? Date.now() - since : Number.POSITIVE_INFINITY
}

const worst = (rounds: Round[], ...of: Kind[]): number =>
  Math.round(
    Math.max(
      0,
      ...rounds.filter(({ kind }) => of.includes(kind)).flatMap((round) => round.takeovers),
    ),
  )

const countRounds = (rounds: Round[]) => ({
  ...Object.fromEntries(
    kinds.map((kind) => [kind, rounds.filter((round) => round.kind === kind).length]),
  ),
  takeovers: rounds.reduce((sum, round) => sum + round.takeovers.length, 0),
  worst_kill_ms: worst(rounds, 'kill'),
  worst_silence_ms: worst(rounds, 'hang', 'partition', 'slow', ...cables),
  fenced_answers: rounds.reduce((sum, round) => sum + round.fenced.length, 0),
  worst_rejoin_ms: Math.max(
    0,
    ...rounds.filter(({ kind }) => kind !== 'kill').map(({ rejoinMs }) => rejoinMs),
  ),
})

const lateIn = (rounds: Round[]): string[] =>
  rounds.flatMap(({ kind, takeovers: all, fenced }) => {
    const limit = kind === 'kill' ? KILL_LIMIT_MS : SILENCE_LIMIT_MS
    return [
      ...all.filter((ms) => ms > limit).map((ms) => `${kind}: taken over after ${ms} ms`),
      ...fenced
        .filter(({ ms }) => ms > ANSWER_LIMIT_MS)
        .map(({ ms }) => `${kind}: the server that was cut off answered after ${ms} ms`),
    ]
  })

const brokenIn = ({ kind, owned, takeovers, fenced }: Round): string[] => {
  const unfit = fenced.filter(
    ({ status, retryAfter }) => status !== 503 || !(Number(retryAfter) >= 1),
  )
  return [
    // An outvoted server returns at once, and may have its workspaces again before others take
    // them.
    ...(kind !== 'outvoted' && takeovers.length < owned
      ? [`${kind}: ${owned - takeovers.length} workspaces were not taken over`]
      : []),
    ...unfit.map(({ status }) => `${kind}: the server that was cut off answered ${status}`),
  ]
}

/** The seed chooses workspaces; their owners at that moment are lost. */
const allRounds = async (fleet: Fleet, load: Load, { seed, holdMs, rounds }: OwnershipOptions) => {
  const next = numbers(seed)
  const done: Round[] = []
  const broken: string[] = []
  for (const kind of rounds) {
    const victim = await memberOf(
      fleet,
      fleet.tenants[Math.floor(next() * fleet.tenants.length)]!.id,
    )
    const { round, served } = await oneRound(fleet, load, { kind, victim, holdMs })
    if (!served)
      broken.push(
        `after ${kind}: not every server served every workspace within ${AFTERWARDS_MS} ms`,
      )
    broken.push(...brokenIn(round))
    done.push(round)
  }
  return { done, broken }
}

const runFleet = async (fleet: Fleet, options: OwnershipOptions): Promise<Verdict> => {
  const { servers, tenants, seed, replicated } = options
  const urls = () => fleet.members.map(({ process }) => process.url)
  const load = startLoad({
    urls,
    tenants: fleet.tenants,
    clients: 1,
    pauseMs: 20,
    name: `o${seed}`,
    patienceMs: 3_000,
    giveUpMs: 30_000,
  })
  const started = await allServed(fleet, load, Date.now())
  const { done, broken } = await allRounds(fleet, load, options)
  if (!started) broken.push('the load did not start')
  const failOverMs = replicated ? await failOver(fleet, load, replicated) : 0
  if (!Number.isFinite(failOverMs))
    broken.push(
      `after the primary's death: not every server served every workspace within ${AFTERWARDS_MS} ms`,
    )
  await load.stop()
  const { acknowledged, ...faults } = await readEffects(fleet.owner, load.sent)
  const counts = {
    seed,
    servers,
    tenants,
    commands: load.sent.length,
    acknowledged,
    reads: load.reads,
    repeated: load.refusals.length,
    wrong: load.wrong.length,
    ...faults,
    ...countRounds(done),
    primary_kills: replicated ? 1 : 0,
    fail_over_ms: failOverMs,
  }
  return verdictOn({ counts, never: faults, broken, wrong: load.wrong, late: lateIn(done) })
}

const isCable = (kind: Kind): boolean => cables.some((cable) => cable === kind)

export async function runOwnership(options: OwnershipOptions): Promise<Verdict> {
  const { servers, tenants, replicated } = options
  const wanted = options.rounds.some(isCable)
  const refusal = wanted ? await noNamespaces() : undefined
  const rounds =
    refusal === undefined ? options.rounds : options.rounds.filter((kind) => !isCable(kind))
  await using stack = new AsyncDisposableStack()
  const network = wanted && refusal === undefined ? stack.use(await startSwitch()) : undefined
  const deployment = replicated?.deployment
  const fleet = stack.use(
    await startFleet({
      servers,
      tenants,
      ...(deployment ? { deployment } : {}),
      ...(network ? { network } : {}),
    }),
  )
  const { counts, ...rest } = await runFleet(fleet, { ...options, rounds })
  return {
    ...rest,
    counts: { ...counts, ...(refusal === undefined ? {} : { netns: `skipped(${refusal})` }) },
  }
}

if (import.meta.main) {
  const defaults = { servers: 3, tenants: 8, seed: 1, holdMs: 10_000, rounds: kinds.length }
  await alone('ownership', defaults, async ({ rounds, ...options }) => {
    const all = Array.from({ length: rounds }, (_, n) => kinds[n % kinds.length]!)
    await using replicated = await startReplicated()
    return await runOwnership({ ...options, rounds: all, replicated })
  })
}
