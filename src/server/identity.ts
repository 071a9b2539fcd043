/**
 * By what a deployment knows that its database was not copied. A copy begins held: it and the
 * original know the same posts, and only one of them may go on by itself.
 */
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '#config/config'
import { AppError } from '#kernel/errors'
import { randomBase62 } from '#kernel/ids'
import type { Log } from '#kernel/log'
import { leapInConversations, leapInJobs } from '#store/agent/events'
import type { ConnectionOptions } from '#store/engine/db'
import {
  beginHold,
  type DeploymentIdentity,
  type HoldCause,
  type HoldStanding,
  lastBeat,
  lockStanding,
  readStanding,
  setIdentity,
} from '#store/engine/hold'
import { livingNode, livingNow, type NodeState } from '#store/engine/nodes'
import { asOwner, inEachTenant, inRole, transactAsOwner } from '#store/engine/owner'
import type { Sql } from '#store/engine/sql'
import { hasMarks, markRestored } from '#store/growth/restored'
import { hostIn } from './database-url.ts'
import { homeOf } from './home.ts'
import { type RestoreNote, readRestored, restoreNote } from './restored-file.ts'

/** What tells one deployment from another. */
export type DeploymentPlace = Pick<Config, 'databaseUrl' | 'home'>

/**
 * The file of the home whose inode and time of birth are compared. A copy has a file of its own; a
 * folder that was moved on its disk, or mounted elsewhere, has the same one.
 */
export const identityFile = (home: string): string => join(home, 'identity')

const fileIdentity = (home: string): DeploymentIdentity => {
  const path = identityFile(home)
  try {
    // What it contains does not matter.
    writeFileSync(path, `${randomBase62(32)}\n`, { flag: 'wx', mode: 0o600, flush: true })
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'EEXIST') throw cause
  }
  const { ino, birthtimeNs } = statSync(path, { bigint: true })
  return { file: String(ino), born: String(birthtimeNs) }
}

/** Some hosts of databases keep the function from everybody. */
const clusterOf = async (sql: Sql): Promise<string> => {
  const [may] = await sql<{ may: boolean }>`select
    has_function_privilege('pg_control_system()', 'execute') as may`
  if (!may!.may) return 'not shown'
  const [row] = await sql<{ system: string }>`select system_identifier::text as system
    from pg_control_system()`
  return row!.system
}

const databaseIdentity = async (url: string, sql: Sql): Promise<DeploymentIdentity> => {
  const [row] = await sql<{ oid: string }>`select oid::text from pg_database
    where datname = current_database()`
  return { address: hostIn(url), cluster: await clusterOf(sql), database: row!.oid }
}

/** What this process would be known by. Makes the file of a home that has none. */
const identityOf = (place: DeploymentPlace, sql: Sql): Promise<DeploymentIdentity> =>
  place.databaseUrl
    ? databaseIdentity(place.databaseUrl, sql)
    : Promise.resolve(fileIdentity(homeOf(place)))

export const isSame = (one: DeploymentIdentity | null, other: DeploymentIdentity): boolean =>
  one !== null && Object.keys({ ...one, ...other }).every((name) => one[name] === other[name])

/**
 * The note of a restore, in the home or, of the database of DATABASE_URL, in place of an identity:
 * no server is known by that.
 */
const noteFor = (place: DeploymentPlace, { identity }: HoldStanding): RestoreNote | undefined => {
  if (identity?.restored !== undefined) return restoreNote(identity.restored, identity.restored)
  return place.databaseUrl ? undefined : readRestored(homeOf(place))
}

/** Why to hold, if there is a reason. */
const causeOf = (
  { identity, held_identity, restored }: HoldStanding,
  own: DeploymentIdentity,
  { note, isAsked }: { note: RestoreNote | undefined; isAsked: boolean },
): HoldCause | undefined => {
  // A note that a hold has begun for says nothing new. Any other does, whatever the identity is: a
  // home that was restored in its old place may have the old one.
  if (note && note.id !== restored) return 'restored'
  // Another server of a deployment that is held already.
  if (isSame(held_identity, own)) return undefined
  const asked = isAsked ? 'asked' : undefined
  if (isSame(identity, own)) return asked
  return (identity ?? held_identity) ? 'copied' : asked
}

/** How a deployment stands, and what follows for it if it runs from this place. */
interface Look {
  standing: HoldStanding
  own: DeploymentIdentity
  cause: HoldCause | undefined
  note: RestoreNote | undefined
}

/** Changes nothing, except that a home gets its identity file. */
export const lookAt = async (
  place: DeploymentPlace,
  sql: Sql,
  { isAsked = false }: { isAsked?: boolean } = {},
): Promise<Look> => {
  const [standing, own] = [await readStanding(sql), await identityOf(place, sql)]
  const note = noteFor(place, standing)
  return { standing, own, note, cause: causeOf(standing, own, { note, isAsked }) }
}

const words = (identity: DeploymentIdentity | null): string =>
  Object.entries(identity ?? {})
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

const refusalOf = (
  { url, incarnation }: NodeState,
  { standing: { identity, held_identity }, own, cause }: Look,
): string => {
  const serves = `node ${incarnation} at ${url} serves it`
  return cause === 'asked'
    ? `TENDRIL_HELD asks to hold this deployment, but ${serves}; stop every server first`
    : `this database belongs to a deployment known by ${words(held_identity ?? identity)}, and ${serves}, but this server would be known by ${words(own)}. If both are meant to serve it, write DATABASE_URL in the same way for both; if this is a copy, stop the other server first`
}

const refuseBeside = (living: NodeState | undefined, look: Look): void => {
  if (living) throw new AppError('conflict', refusalOf(living, look), { reason: 'unfit_database' })
}

/**
 * Marks what may have gone out elsewhere, in all workspaces, gives streams numbers that they have
 * nowhere else, and begins the hold.
 */
export const hold = async (
  sql: Sql,
  { standing, own, note }: Omit<Look, 'cause'>,
  { cause, asOf }: { cause: HoldCause; asOf: Date | null },
): Promise<void> => {
  const markedBefore: string[] = []
  await inEachTenant(sql, async (tenantId) => {
    if (await hasMarks(sql)) markedBefore.push(tenantId)
    await markRestored(sql, asOf)
    await leapInJobs(sql)
  })
  await leapInConversations(sql)
  const restored = note?.id ?? null
  await beginHold(sql, standing, { cause, identity: own, asOf, markedBefore, restored })
}

const beatAsSystem = (sql: Sql): Promise<Date | undefined> =>
  inRole(sql, 'tendril_system', () => lastBeat(sql))

/**
 * Holds the deployment if there is a cause, under a lock. Throws if a server of it lives, and has
 * then written nothing. Returns how it stands now.
 */
export const settleStanding = async (
  place: DeploymentPlace,
  options: ConnectionOptions,
  { isAsked = false }: { isAsked?: boolean } = {},
): Promise<Look> => {
  const look = (sql: Sql) => lookAt(place, sql, { isAsked })
  const found = await transactAsOwner(options, look)
  if (found.cause) refuseBeside(await asOwner(options, livingNode), found)
  return await transactAsOwner(options, async (sql) => {
    await lockStanding(sql)
    // Another server may have begun meanwhile.
    const now = await look(sql)
    if (now.cause) {
      refuseBeside(await livingNow(sql), now)
      const note = now.cause === 'restored' ? now.note : undefined
      const asOf = note?.backupAt ?? (await beatAsSystem(sql)) ?? null
      await hold(sql, { ...now, note }, { cause: now.cause, asOf })
    } else if (!now.standing.identity) await setIdentity(sql, now.own)
    return { ...now, standing: await readStanding(sql) }
  })
}

const causes: Record<HoldCause, string> = {
  copied: 'its database is a copy of another deployment’s',
  restored: 'it was restored from a backup',
  asked: 'TENDRIL_HELD asks for it',
}

/** What was restored is another deployment, so nobody can vouch for it. */
const endOf = (cause: HoldCause): string =>
  `"tendril admin identity adopt"${cause === 'restored' ? '' : ', with --moved if it was only moved and nothing else has run since'}`

/** Decides whether the deployment is held, before anything of it runs. */
export const settleIdentity = async (
  config: Config,
  options: ConnectionOptions,
  log: Log,
): Promise<void> => {
  const { standing } = await settleStanding(config, options, { isAsked: config.held })
  const { since, cause } = standing
  if (since)
    log.warn(
      { since, cause },
      `this deployment is held, because ${causes[cause!]}: nothing goes out by itself until an operator runs ${endOf(cause!)}`,
    )
}
