/**
 * One server of several under load is lost and returns: how soon others serve what it owned, and
 * what it answers meanwhile.
 */
import type postgres from 'postgres'
import { ownedBy, takeovers } from '../effects.ts'
import type { Fleet, Member } from '../fleet.ts'
import type { Load } from '../load.ts'

/**
 * Kinds that need a network namespace for each server: the cable to the database is pulled, or
 * every cable.
 */
export const cables = ['netns_database', 'netns_all'] as const
export const kinds = ['kill', 'hang', 'partition', 'slow', 'outvoted', ...cables] as const
export type Kind = (typeof kinds)[number]

export interface Round {
  kind: Kind
  /** Milliseconds until another server wrote, for each workspace that the lost one owned. */
  takeovers: number[]
  /** How many workspaces the lost one owned. */
  owned: number
  /** Milliseconds from its return until it served a command. */
  rejoinMs: number
  /** Its answers once its lease may have ended, to clients that still reach it. */
  fenced: Fenced[]
}

interface Fenced {
  status: number
  retryAfter: string | null
  ms: number
}

export const AFTERWARDS_MS = 20_000
const OUTVOTED_MS = 1_000
const PROBE_EVERY_MS = 500
const PROBE_PATIENCE_MS = 10_000
/**
 * A server counts itself out four fifths of the lease after its last renewal, which was before the
 * cut.
 */
const FENCED_AFTER_MS = 4_000
const ASK_FENCED_EVERY_MS = 250

const cutting =
  (what: 'database' | 'everything') =>
  async ({ place }: Member) => {
    await place!.cut(what)
    return () => place!.heal()
  }

type Mend = () => Promise<void>

/**
 * Breaks a member; returns the function that repairs it. `outvoted`: counted out while it works, so
 * that only the fence can stop it.
 */
const breakBy: Record<Kind, (member: Member, owner: postgres.Sql) => Promise<Mend>> = {
  async kill(member) {
    const gone = member.process.kill()
    return () => gone.then(() => member.restart())
  },
  async hang(member) {
    member.process.pause()
    return async () => member.process.resume()
  },
  async partition(member) {
    member.proxy.stall()
    return () => member.proxy.open()
  },
  async slow(member) {
    member.proxy.stall()
    return async () => member.proxy.thaw()
  },
  async outvoted(member, owner) {
    const counted = owner`delete from node where url = ${member.process.url}`.execute()
    return async () => void (await counted)
  },
  netns_database: cutting('database'),
  netns_all: cutting('everything'),
}

/** Waits until every server has acknowledged a command of every workspace after `since`. */
export const allServed = async (
  { members, tenants }: Fleet,
  load: Load,
  since: number,
): Promise<boolean> => {
  const until = performance.now() + AFTERWARDS_MS
  const pairs = tenants.flatMap(({ id }) => members.map((_, server) => `${id} ${server}`))
  while (performance.now() < until) {
    if (pairs.every((pair) => (load.latest.get(pair) ?? 0) > since)) return true
    await Bun.sleep(20)
  }
  return false
}

const resume = (url: string, key: string): Promise<Response> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(`${url}/api/v1/growth/automation/resume-all`, {
    method: 'POST',
    headers,
    signal: AbortSignal.timeout(PROBE_PATIENCE_MS),
  })
}

interface Lost {
  owned: string[]
  victim: Member
  done(): boolean
}

/**
 * Sends requests for these workspaces to the other servers until `done`: how soon they are served
 * there must not depend on clients that wait for the silent one.
 */
const probe = async ({ members, tenants }: Fleet, { owned, victim, done }: Lost): Promise<void> => {
  const others = members.filter((member) => member !== victim).map(({ process }) => process.url)
  const asking: Promise<unknown>[] = []
  for (let n = 0; !done(); n++) {
    for (const { key } of tenants.filter(({ id }) => owned.includes(id)))
      asking.push(resume(others[n % others.length]!, key).catch(() => {}))
    await Bun.sleep(PROBE_EVERY_MS)
  }
  await Promise.all(asking)
}

/**
 * Sends requests to the server that is cut off, from the time when it must have counted itself out.
 */
const askFenced = async ({ tenants }: Fleet, { owned, victim, done }: Lost): Promise<Fenced[]> => {
  const asking: Promise<Fenced>[] = []
  const { key } = tenants.find(({ id }) => owned.includes(id)) ?? tenants[0]!
  const ask = async (): Promise<Fenced> => {
    const asked = performance.now()
    const reply = await resume(victim.process.url, key).catch(() => undefined)
    return {
      status: reply?.status ?? 0,
      retryAfter: reply?.headers.get('retry-after') ?? null,
      ms: performance.now() - asked,
    }
  }
  for (const from = performance.now(); performance.now() - from < FENCED_AFTER_MS && !done(); )
    await Bun.sleep(20)
  for (; !done(); await Bun.sleep(ASK_FENCED_EVERY_MS)) asking.push(ask())
  return await Promise.all(asking)
}

/** Milliseconds until this server acknowledged a command. */
const rejoined = async (
  { members, tenants }: Fleet,
  load: Load,
  { victim, since }: { victim: Member; since: number },
): Promise<number> => {
  const at = members.indexOf(victim)
  const latest = () => Math.max(...tenants.map(({ id }) => load.latest.get(`${id} ${at}`) ?? 0))
  while (latest() <= since && Date.now() - since < AFTERWARDS_MS) await Bun.sleep(10)
  return latest() > since ? latest() - since : Number.POSITIVE_INFINITY
}

/**
 * The shortest time for which it stays lost; one that was counted out by mistake, until its
 * workspaces are served elsewhere.
 */
const leastOf = (kind: Kind, holdMs: number): number => {
  if (kind === 'kill') return 0
  return kind === 'outvoted' ? OUTVOTED_MS : holdMs
}

/** `served`: every server has served every workspace afterwards. */
export const oneRound = async (
  fleet: Fleet,
  load: Load,
  { kind, victim, holdMs }: { kind: Kind; victim: Member; holdMs: number },
) => {
  const owned = await ownedBy(fleet, victim.process.url)
  const since = Date.now()
  const mend = await breakBy[kind](victim, fleet.owner)
  const taken = () => takeovers(fleet.owner, { name: victim.name, tenants: owned, since })
  const overtaken = async () => kind === 'outvoted' || (await taken()).length === owned.length
  const lostAt = performance.now()
  let healed = false
  const lost: Lost = { owned, victim, done: () => healed }
  const probing = probe(fleet, lost)
  const asking = kind === 'netns_database' ? askFenced(fleet, lost) : []
  const elapsed = () => performance.now() - lostAt
  const least = leastOf(kind, holdMs)
  while (elapsed() < least || (elapsed() < least + AFTERWARDS_MS && !(await overtaken())))
    await Bun.sleep(50)
  healed = true
  // Requests sent before the cable is back are answered before it is.
  const fenced = await asking
  await mend()
  const back = Date.now()
  await probing
  const rejoinMs = await rejoined(fleet, load, { victim, since: back })
  const served = await allServed(fleet, load, back)
  const round: Round = { kind, owned: owned.length, takeovers: await taken(), rejoinMs, fenced }
  return { round, served }
}
