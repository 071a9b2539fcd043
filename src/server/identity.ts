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
import { livingNode, type NodeState } from '#store/engine/nodes'
import { asOwner, transactAsOwner } from '#store/engine/owner'
import type { Sql } from '#store/engine/sql'
import { asTenant, everyTenant, hasMarks, markRestored } from '#store/growth/restored'
import { hostIn } from './database-url.ts'
import { homeOf } from './home.ts'
import { readRestored } from './restored-file.ts'

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
export const identityOf = (
  config: Pick<Config, 'databaseUrl' | 'home'>,
  sql: Sql,
): Promise<DeploymentIdentity> =>
  config.databaseUrl
    ? databaseIdentity(config.databaseUrl, sql)
    : Promise.resolve(fileIdentity(homeOf(config)))

export const isSame = (one: DeploymentIdentity | null, other: DeploymentIdentity): boolean =>
  one !== null && Object.keys({ ...one, ...other }).every((name) => one[name] === other[name])

const words = (identity: DeploymentIdentity | null): string =>
  Object.entries(identity ?? {})
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

const refusalOf = (
  { url, incarnation }: NodeState,
  { identity }: HoldStanding,
  own: DeploymentIdentity,
): string =>
  isSame(identity, own)
    ? `TENDRIL_HELD asks to hold this deployment, but node ${incarnation} at ${url} serves it; stop every server first`
    : `this database belongs to a deployment known by ${words(identity)}, and node ${incarnation} at ${url} serves it, but this server would be known by ${words(own)}. If both are meant to serve it, write DATABASE_URL in the same way for both; if this is a copy, stop the other server first`

/** Marks what may have gone out elsewhere, in all workspaces, and begins the hold. */
export const hold = async (
  sql: Sql,
  { cause, identity, asOf }: { cause: HoldCause; identity: DeploymentIdentity; asOf: Date | null },
): Promise<void> => {
  let hadMarks = false
  for (const tenantId of await everyTenant(sql)) {
    await asTenant(sql, tenantId)
    hadMarks ||= await hasMarks(sql)
    await markRestored(sql, asOf)
  }
  await sql`reset role`
  await beginHold(sql, { cause, identity, asOf, hadMarks })
}

/** Why to hold, if there is a reason. */
const causeOf = (
  { identity, held_identity }: HoldStanding,
  own: DeploymentIdentity,
  { isRestored, isAsked }: { isRestored: boolean; isAsked: boolean },
): HoldCause | undefined => {
  // Another server of a deployment that is held already.
  if (isSame(held_identity, own)) return undefined
  const asked = isAsked ? 'asked' : undefined
  if (isSame(identity, own)) return asked
  if (isRestored) return 'restored'
  return identity ? 'copied' : asked
}

/** How the deployment stands once this has decided whether it is held. */
const settle = async (config: Config, options: ConnectionOptions): Promise<HoldStanding> => {
  const restored = config.home && !config.databaseUrl ? readRestored(config.home) : undefined
  const known = { isRestored: restored !== undefined, isAsked: config.held }
  const look = async (sql: Sql) => {
    const [standing, own] = [await readStanding(sql), await identityOf(config, sql)]
    return { standing, own, cause: causeOf(standing, own, known) }
  }
  const { standing, own, cause } = await transactAsOwner(options, look)
  const living = cause && (await asOwner(options, livingNode))
  if (living)
    throw new AppError('conflict', refusalOf(living, standing, own), { reason: 'unfit_database' })
  return await transactAsOwner(options, async (sql) => {
    await lockStanding(sql)
    // Another server may have begun meanwhile.
    const now = await look(sql)
    if (now.cause) {
      const asOf = restored?.backupAt ?? (await beatAsSystem(sql)) ?? null
      await hold(sql, { cause: now.cause, identity: own, asOf })
    } else if (!now.standing.identity) await setIdentity(sql, own)
    return await readStanding(sql)
  })
}

const beatAsSystem = async (sql: Sql): Promise<Date | undefined> => {
  await sql`set local role tendril_system`
  const at = await lastBeat(sql)
  await sql`reset role`
  return at
}

const causes: Record<HoldCause, string> = {
  copied: 'its database is a copy of another deployment’s',
  restored: 'it was restored from a backup',
  asked: 'TENDRIL_HELD asks for it',
}

/** Decides whether the deployment is held, before anything of it runs. */
export const settleIdentity = async (
  config: Config,
  options: ConnectionOptions,
  log: Log,
): Promise<void> => {
  const { since, cause } = await settle(config, options)
  if (since)
    log.warn(
      { since, cause },
      `this deployment is held, because ${causes[cause!]}: nothing goes out by itself until an operator runs "tendril admin identity adopt"`,
    )
}
