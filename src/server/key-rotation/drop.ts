/** The end of a rotation: the old key is dropped once nothing needs it. */
import type { Config } from '#config/config'
import { keyInState, needsOfOld } from '#domain/app/key-rotation'
import { fail } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { dropOtherLogins } from '#store/engine/logins'
import { asOwner } from '#store/engine/owner'
import type { Sql } from '#store/engine/sql'
import {
  dropOldKey,
  endOlderSessions,
  keyedNodes,
  lockNodes,
  lockRotation,
  olderSessions,
  readKeys,
} from '#store/secret/key-rotation'
import { countUnderOthers } from '#store/secret/sealed-values'
import { settleKeyFiles } from '../secret-key.ts'
import {
  type Rotating,
  SETTLED_MS,
  type Steps,
  stepInTenant,
  tenantsOf,
  withSteps,
} from './steps.ts'

const sessionsThatNeed = (count: number, until: Date | null): string[] =>
  count === 0
    ? []
    : [
        `${count} ${count === 1 ? 'session has' : 'sessions have'} tokens that were made under it: each gets new ones as its person comes back, and the last of them ends at ${until?.toISOString()}; --end-sessions ends them now, and these people must sign in again`,
      ]

/** What still needs the old key. */
const needs = async (steps: Steps, sql: Sql, endsSessions: boolean): Promise<string[]> => {
  const rows = await readKeys(sql)
  const found = needsOfOld({ rows, nodes: await keyedNodes(sql, steps.settledMs) })
  const settledAt = rows.find(({ state }) => state === 'new')?.settled_at
  if (!settledAt || endsSessions) return found
  const { count, until } = await olderSessions(sql, settledAt)
  return [...found, ...sessionsThatNeed(count, until)]
}

interface Dropping {
  endsSessions: boolean
  failpoints: Failpoints
  settledMs?: number
}

const drop = (steps: Steps, endsSessions: boolean): Promise<string | undefined> =>
  steps.transact(async (sql) => {
    await lockRotation(sql)
    await lockNodes(sql)
    const rows = await readKeys(sql)
    const old = keyInState(rows, 'old')
    if (old === undefined) return undefined
    const found = await needs(steps, sql, endsSessions)
    if (found.length > 0)
      fail('conflict', `the old key ${old} is still needed: ${found.join('; ')}`, {
        reason: 'wrong_state',
      })
    const settledAt = rows.find(({ state }) => state === 'new')!.settled_at!
    if (endsSessions) await endOlderSessions(sql, settledAt)
    await dropOldKey(sql)
    return old
  })

/**
 * Drops the old key, or throws and says what needs it. If it was dropped already, finishes what was
 * left to do.
 */
export const dropOldSecret = async (
  config: Config,
  rotating: Rotating,
  { endsSessions, failpoints, settledMs = SETTLED_MS }: Dropping,
): Promise<object> => {
  const { options, keys } = rotating
  const { dropped, inUse } = await withSteps(rotating, settledMs, async (steps) => {
    const found = await drop(steps, endsSessions)
    keys.read(await steps.transact(readKeys))
    const nodes = await steps.transact((sql) => keyedNodes(sql, settledMs))
    return { dropped: found ?? null, inUse: nodes.flatMap(({ login }) => login ?? []) }
  })
  if (!keys.isRotated) fail('conflict', 'no rotation is under way', { reason: 'wrong_state' })
  await failpoints('rotation.dropped')
  const logins = await asOwner(options, (client) =>
    dropOtherLogins(client, [keys.newest.fingerprint, ...inUse]),
  )
  await failpoints('rotation.logins')
  await settleKeyFiles(config, keys)
  return {
    dropped,
    secret_key: keys.newest.fingerprint,
    logins,
    next: 'keep the old key as long as you keep backups that were made under it; where keys come from the environment, set TENDRIL_SECRET_KEY to the new one and unset TENDRIL_SECRET_KEY_NEXT',
  }
}

const countAll = async (steps: Steps, fingerprint: string): Promise<Record<string, number>> => {
  const total: Record<string, number> = {}
  for await (const tenantId of tenantsOf(steps)) {
    const counted = await stepInTenant(steps, tenantId, (sql) => countUnderOthers(sql, fingerprint))
    for (const [name, values] of Object.entries(counted)) total[name] = (total[name] ?? 0) + values
  }
  return total
}

/** Which keys there are, who knows them, and what stands under others than the newest. */
export const showSecret = (rotating: Rotating): Promise<object> =>
  withSteps(rotating, SETTLED_MS, async (steps) => {
    const { keys } = rotating
    const { rows, nodes } = await steps.transact(async (sql) => ({
      rows: await readKeys(sql),
      nodes: await keyedNodes(sql, SETTLED_MS),
    }))
    const newest = keys.newest.fingerprint
    return {
      secret_key: newest,
      next_key: keys.candidate?.fingerprint ?? null,
      keys: rows.map(({ sealed: _, ...row }) => row),
      nodes: nodes.map(({ id, url, known, newest: makes, login }) => ({
        id,
        url,
        knows: known,
        makes_under: makes,
        logs_in_by: login,
      })),
      // Before the first rotation, values without a fingerprint are of the only key.
      sealed_under_others: rows.length === 0 ? {} : await countAll(steps, newest),
      old_key_needed_for:
        keyInState(rows, 'old') === undefined
          ? []
          : await steps.transact((sql) => needs(steps, sql, false)),
    }
  })
