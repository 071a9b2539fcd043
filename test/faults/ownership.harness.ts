/**
 * Servers under load from clients of each of them, and one after the other lost: killed, stopped for a while, cut off from
 * the database with everything lost, or with everything arriving late, or counted out by mistake. At the end the database's primary is killed.
 * `npm run fault:ownership -- --rounds 12 --seed 7`.
 */

import type postgres from 'postgres'
import { type Fleet, type Member, startFleet } from './fleet.ts'
import { ownedBy, readLedger, takeovers } from './ledger.ts'
import { type Load, startLoad } from './load.ts'
import { numbers } from './numbers.ts'
import { alone, type Finished, optionsFrom } from './own-database.ts'
import { type Replicated, startReplicated } from './replicated.ts'

export const kinds = ['kill', 'hang', 'partition', 'slow', 'outvoted'] as const
export type Kind = (typeof kinds)[number]

export interface OwnershipOptions {
  servers: number
  tenants: number
  seed: number
  /** How long a server hangs or is cut off, at least: until others have all its workspaces. */
  holdMs: number
  rounds: Kind[]
  /** Instead of a database of its own; after the rounds its primary is killed. */
  replicated?: Replicated
}

interface Round {
  kind: Kind
  /** Milliseconds until another server had written, for each workspace that the lost one owned. */
  takeovers: number[]
  /** Workspaces that the lost one owned. */
  owned: number
}

/** What an operator may expect: a death shows at once, silence only by the lease. */
const LIMIT_MS: Record<Kind, number> = { kill: 2_000, hang: 6_000, partition: 6_000, slow: 6_000, outvoted: 6_000 }
const AFTERWARDS_MS = 20_000
const OUTVOTED_MS = 1_000
const PROBE_EVERY_MS = 500
const PROBE_PATIENCE_MS = 10_000

/** Breaks a member; gives what mends it. Outvoted: counted out in the midst of its work, when only the fence can stop it. */
const breakBy: Record<Kind, (member: Member, owner: postgres.Sql) => () => Promise<void>> = {
  kill(member) {
    const gone = member.process.kill()
    return () => gone.then(() => member.restart())
  },
  hang(member) {
    member.process.pause()
    return async () => member.process.resume()
  },
  partition(member) {
    member.proxy.stall()
    return () => member.proxy.open()
  },
  slow(member) {
    member.proxy.stall()
    return async () => member.proxy.thaw()
  },
  outvoted(member, owner) {
    const counted = owner`delete from node where url = ${member.process.url}`.execute()
    return async () => void (await counted)
  },
}

/** Waits until every server has acknowledged a command of every workspace after `since`. */
const allServed = async ({ members, tenants }: Fleet, load: Load, since: number): Promise<boolean> => {
  const until = performance.now() + AFTERWARDS_MS
  const pairs = tenants.flatMap(({ id }) => members.map((_, server) => `${id} ${server}`))
  while (performance.now() < until) {
    if (pairs.every((pair) => (load.latest.get(pair) ?? 0) > since)) return true
    await Bun.sleep(20)
  }
  return false
}

/** The server that owns this workspace at this moment. */
const memberOf = async ({ owner, members }: Fleet, tenantId: string): Promise<Member> => {
  const [node] = await owner<
    { url: string }[]
  >`select n.url from actor a join node n on n.incarnation = a.owner where a.tenant_id = ${tenantId}`
  return members.find(({ process }) => process.url === node?.url) ?? members[0]!
}

/**
 * Asks the others, for each of these workspaces, until `done`: how soon it is served elsewhere must not depend on clients that
 * wait for the one that is silent.
 */
const probe = async (
  { members, tenants }: Fleet,
  { owned, victim, done }: { owned: string[]; victim: Member; done(): boolean },
): Promise<void> => {
  const others = members.filter((member) => member !== victim).map(({ process }) => process.url)
  const asking: Promise<unknown>[] = []
  for (let n = 0; !done(); n++) {
    for (const { key } of tenants.filter(({ id }) => owned.includes(id))) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const init = { method: 'POST', headers, signal: AbortSignal.timeout(PROBE_PATIENCE_MS) }
      asking.push(fetch(`${others[n % others.length]}/api/v1/growth/automation/resume-all`, init).catch(() => {}))
    }
    await Bun.sleep(PROBE_EVERY_MS)
  }
  await Promise.all(asking)
}

const oneRound = async (fleet: Fleet, load: Load, { kind, victim, holdMs }: { kind: Kind; victim: Member; holdMs: number }) => {
  const owned = await ownedBy(fleet, victim.process.url)
  const since = Date.now()
  const mend = breakBy[kind](victim, fleet.owner)
  const overtaken = async () => (await takeovers(fleet.owner, { role: victim.role, tenants: owned, since })).length === owned.length
  const lostAt = performance.now()
  let healed = false
  const probing = probe(fleet, { owned, victim, done: () => healed })
  const elapsed = () => performance.now() - lostAt
  const least = { kill: 0, outvoted: OUTVOTED_MS }[kind as string] ?? holdMs
  while (elapsed() < least || (kind !== 'outvoted' && elapsed() < least + AFTERWARDS_MS && !(await overtaken()))) await Bun.sleep(50)
  healed = true
  await mend()
  await probing
  const served = await allServed(fleet, load, Date.now())
  const round: Round = { kind, owned: owned.length, takeovers: await takeovers(fleet.owner, { role: victim.role, tenants: owned, since }) }
  return { round, served }
}

/** Milliseconds from the death of the primary until every server has served every workspace from the standby that was promoted. */
const failOver = async (fleet: Fleet, load: Load, replicated: Replicated): Promise<number> => {
  const since = Date.now()
  await replicated.failOver(fleet.members)
  return (await allServed(fleet, load, Date.now())) ? Date.now() - since : Number.POSITIVE_INFINITY
}

const worst = (rounds: Round[], ...of: Kind[]): number =>
  Math.round(Math.max(0, ...rounds.filter(({ kind }) => of.includes(kind)).flatMap((round) => round.takeovers)))

const countRounds = (rounds: Round[]) => ({
  ...Object.fromEntries(kinds.map((kind) => [kind, rounds.filter((round) => round.kind === kind).length])),
  takeovers: rounds.reduce((sum, round) => sum + round.takeovers.length, 0),
  worst_kill_ms: worst(rounds, 'kill'),
  worst_silence_ms: worst(rounds, 'hang', 'partition', 'slow'),
})

const lateIn = (rounds: Round[]): string[] =>
  rounds.flatMap(({ kind, takeovers: all }) => all.filter((ms) => ms > LIMIT_MS[kind]).map((ms) => `${kind}: taken over after ${ms} ms`))

/** The seed chooses workspaces; their owners at that moment are lost. */
const allRounds = async (fleet: Fleet, load: Load, { seed, holdMs, rounds }: OwnershipOptions) => {
  const next = numbers(seed)
  const done: Round[] = []
  const broken: string[] = []
  for (const kind of rounds) {
    const victim = await memberOf(fleet, fleet.tenants[Math.floor(next() * fleet.tenants.length)]!.id)
    const { round, served } = await oneRound(fleet, load, { kind, victim, holdMs })
    if (!served) broken.push(`after ${kind}: not every server served every workspace within ${AFTERWARDS_MS} ms`)
    // One that was outvoted is back at once, and may have its workspaces again before others take them.
    if (kind !== 'outvoted' && round.takeovers.length < round.owned)
      broken.push(`${kind}: ${round.owned - round.takeovers.length} workspaces were not taken over`)
    done.push(round)
  }
  return { done, broken }
}

/** Runs all rounds. `late`: takeovers beyond the limits; a busy machine can cause them, so the caller decides what they mean. */
export async function runOwnership(options: OwnershipOptions): Promise<Finished & { late: string[] }> {
  const { servers, tenants, seed, replicated } = options
  await using fleet = await startFleet({ servers, tenants, ...(replicated ? { deployment: replicated.deployment } : {}) })
  const urls = () => fleet.members.map(({ process }) => process.url)
  const load = startLoad({ urls, tenants: fleet.tenants, clients: 1, pauseMs: 20, name: `o${seed}`, patienceMs: 3_000, giveUpMs: 30_000 })
  const started = await allServed(fleet, load, Date.now())
  const { done, broken } = await allRounds(fleet, load, options)
  if (!started) broken.push('the load did not start')
  const failOverMs = replicated ? await failOver(fleet, load, replicated) : 0
  if (!Number.isFinite(failOverMs))
    broken.push(`after the primary's death: not every server served every workspace within ${AFTERWARDS_MS} ms`)
  await load.stop()
  const { acknowledged, ...faults } = await readLedger(fleet.owner, load.sent)
  for (const [what, count] of Object.entries(faults)) if (count > 0) broken.push(`${what}: ${count}`)
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
  return { counts, broken: [...broken, ...load.wrong], late: lateIn(done) }
}

if (import.meta.main) {
  const { rounds, ...options } = optionsFrom({ servers: 3, tenants: 8, seed: 1, holdMs: 10_000, rounds: 8 }, process.argv.slice(2))
  await alone('ownership', async () => {
    const all = Array.from({ length: rounds }, (_, n) => kinds[n % kinds.length]!)
    await using replicated = await startReplicated()
    const { late, ...finished } = await runOwnership({ ...options, rounds: all, replicated })
    return { ...finished, broken: [...finished.broken, ...late] }
  })
}
