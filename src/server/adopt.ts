/** The end of a hold: an operator says that this deployment is the one that goes on. */
import { rmSync } from 'node:fs'
import type { Config } from '#config/config'
import { endAllSessions } from '#store/app/sessions'
import type { ConnectionOptions } from '#store/engine/db'
import {
  type DeploymentIdentity,
  endHold,
  type HoldStanding,
  lockStanding,
  readStanding,
  setIdentity,
} from '#store/engine/hold'
import { transactAsOwner } from '#store/engine/owner'
import type { Sql } from '#store/engine/sql'
import {
  asTenant,
  countMarks,
  type DueSoon,
  dueBefore,
  everyTenant,
  unmarkRestored,
} from '#store/growth/restored'
import { hold, identityOf, isSame } from './identity.ts'
import { restoredFile } from './restored-file.ts'

/** What tells one deployment from another. */
type Place = Pick<Config, 'databaseUrl' | 'home'>

/** How far ahead `adopt` says what goes out, and how many posts it names. */
const AHEAD_MS = 3_600_000
const MOST_NAMED = 100

const shown = ({ since, cause, as_of, keeps_objects }: HoldStanding) => ({
  held: since === null ? null : { since, cause, as_of },
  keeps_objects,
})

/** How the deployment stands. Changes nothing, except that a home gets its identity file. */
export const showIdentity = (config: Place, options: ConnectionOptions): Promise<object> =>
  transactAsOwner(options, async (sql) => {
    const standing = await readStanding(sql)
    const here = await identityOf(config, sql)
    return {
      known_by: standing.identity,
      here,
      fits: standing.identity === null || isSame(standing.identity, here),
      ...shown(standing),
      undecided: await sum(sql, countMarks),
    }
  })

const sum = async (sql: Sql, count: (sql: Sql) => Promise<number>): Promise<number> => {
  let total = 0
  for (const tenantId of await everyTenant(sql)) {
    await asTenant(sql, tenantId)
    total += await count(sql)
  }
  await sql`reset role`
  return total
}

interface Wanted {
  /** Nothing else ran since, so nothing went out elsewhere. */
  moved: boolean
  removesObjects: boolean
  endsSessions: boolean
  confirmed: boolean
}

/**
 * Without confirmation, only what would follow. A copy that no server has held yet is held first,
 * so that its posts are marked. `restored`: it cannot be the same deployment as before.
 */
export const adoptIdentity = async (
  config: Place,
  options: ConnectionOptions,
  wanted: Wanted,
): Promise<object | 'restored'> => {
  const standing = await transactAsOwner(options, (sql) => held(sql, config))
  const { since, cause, had_marks, held_identity, identity } = standing
  if (since === null) return { adopted: false, reason: 'not_held', known_by: identity }
  if (wanted.moved && cause === 'restored') return 'restored'
  const unmarks = wanted.moved && !had_marks
  const follows = await transactAsOwner(options, (sql) => whatFollows(sql, unmarks))
  if (!wanted.confirmed) return { adopted: false, next: 'run it again with --yes', ...follows }
  if (unmarks) await unmarkAll(options)
  await transactAsOwner(options, (sql) => adopted(sql, held_identity!, wanted))
  if (config.home) rmSync(restoredFile(config.home), { force: true })
  return { adopted: true, known_by: held_identity, ...follows }
}

const whatFollows = async (sql: Sql, unmarks: boolean) => ({
  goes_out_within_an_hour: await dueSoon(sql, unmarks),
  waits_for_a_decision: unmarks ? 0 : await sum(sql, countMarks),
  lives_again: 'keys, sessions and members that were ended after the backup or copy was made',
})

const held = async (sql: Sql, config: Place): Promise<HoldStanding> => {
  await lockStanding(sql)
  const standing = await readStanding(sql)
  const here = await identityOf(config, sql)
  if (standing.since || !standing.identity || isSame(standing.identity, here)) return standing
  await hold(sql, { cause: 'copied', identity: here, asOf: null })
  return await readStanding(sql)
}

const dueSoon = async (sql: Sql, marked: boolean) => {
  const wanted = { until: new Date(Date.now() + AHEAD_MS), marked, limit: MOST_NAMED }
  const posts: DueSoon[] = []
  for (const tenantId of await everyTenant(sql)) {
    await asTenant(sql, tenantId)
    for (const { id, at } of await dueBefore(sql, wanted))
      posts.push({ workspace_id: tenantId, item_id: id, at })
  }
  return { posts: posts.slice(0, MOST_NAMED), more: posts.length > MOST_NAMED }
}

/** A transaction for each workspace, so that none is locked while another is waited for. */
const unmarkAll = async (options: ConnectionOptions): Promise<void> => {
  const tenants = await transactAsOwner(options, everyTenant)
  for (const tenantId of tenants)
    await transactAsOwner(options, async (sql) => {
      await asTenant(sql, tenantId)
      await unmarkRestored(sql)
    })
}

const adopted = async (
  sql: Sql,
  identity: DeploymentIdentity,
  { removesObjects, endsSessions }: Wanted,
): Promise<void> => {
  await lockStanding(sql)
  await setIdentity(sql, identity)
  await endHold(sql, removesObjects)
  if (endsSessions) await endAllSessions(sql)
}
