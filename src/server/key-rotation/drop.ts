/** The end of a rotation: the old key is dropped once nothing needs it. */
import type { Config } from '#config/config'
import { needsOfOld } from '#domain/app/key-rotation'
import { fail } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { dropOtherLogins } from '#store/engine/logins'
import { asOwner } from '#store/engine/owner'
import type { Sql } from '#store/engine/sql'
import {
  dropOldKey,
  endOlderSessions,
  type KeyChange,
  keyedNodes,
  lastChange,
  lockNodes,
  lockRotation,
  olderSessions,
  readKeys,
  requireLastChange,
} from '#store/secret/key-rotation'
import { settleKeyFiles } from '../secret-key.ts'
import { leftUnder, refuseLeft } from './left.ts'
import { type Rotating, SETTLED_MS, type Steps, withSteps } from './steps.ts'

const SESSIONS_AT_ONCE = 500

const sessionsThatNeed = (count: number, until: Date | null): string[] =>
  count === 0
    ? []
    : [
        `${count} ${count === 1 ? 'session has' : 'sessions have'} tokens that were made under it: each gets new ones as its person comes back, and the last of them ends at ${until?.toISOString()}; --end-sessions ends them now, and these people must sign in again`,
      ]

const needsOfKey = async (steps: Steps, sql: Sql): Promise<string[]> =>
  needsOfOld({ rows: await readKeys(sql), nodes: await keyedNodes(sql, steps.settledMs) })

const settledAt = async (sql: Sql): Promise<Date | null> =>
  (await readKeys(sql)).find(({ state }) => state === 'new')?.settled_at ?? null

/** What still needs the old key. */
export const needsOfKeyAndSessions = async (steps: Steps, sql: Sql): Promise<string[]> => {
  const [found, since] = [await needsOfKey(steps, sql), await settledAt(sql)]
  if (!since) return found
  const { count, until } = await olderSessions(sql, since)
  return [...found, ...sessionsThatNeed(count, until)]
}

const refuse = (old: string, found: string[]): void => {
  if (found.length > 0)
    fail('conflict', `the old key ${old} is still needed: ${found.join('; ')}`, {
      reason: 'wrong_state',
    })
}

interface Dropping {
  endsSessions: boolean
  failpoints: Failpoints
  settledMs?: number
}

/** Ends the sessions that need the old key, some at a time. */
const endSessions = async (steps: Steps, change: KeyChange): Promise<void> => {
  for (let ended = SESSIONS_AT_ONCE; ended === SESSIONS_AT_ONCE; )
    ended = await steps.transact(async (sql) => {
      await requireLastChange(sql, change)
      return await endOlderSessions(sql, (await settledAt(sql))!, SESSIONS_AT_ONCE)
    })
}

/**
 * All that takes long, before servers are kept from renewing their leases. Throws if the old key is
 * still needed. Undefined if it was dropped already.
 */
const prepare = async (steps: Steps, endsSessions: boolean): Promise<KeyChange | undefined> => {
  const look = endsSessions ? needsOfKey : needsOfKeyAndSessions
  const change = await steps.transact(async (sql) => {
    const found = await lastChange(sql)
    if (found?.from !== undefined) refuse(found.from, await look(steps, sql))
    return found
  })
  if (change?.from === undefined) return undefined
  refuseLeft(change.from, await leftUnder(steps, change.from))
  if (endsSessions) await endSessions(steps, change)
  return change
}

const drop = async (steps: Steps, endsSessions: boolean): Promise<string | undefined> => {
  const change = await prepare(steps, endsSessions)
  if (!change) return undefined
  return await steps.transact(async (sql) => {
    await lockRotation(sql)
    await requireLastChange(sql, change)
    await lockNodes(sql)
    refuse(change.from!, await needsOfKey(steps, sql))
    await dropOldKey(sql)
    return change.from
  })
}

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
    next: 'backups have the keys that they need, but dumps that pg_dump made under the old key do not: keep it as long as you keep those; where keys come from the environment, set TENDRIL_SECRET_KEY to the new one and unset TENDRIL_SECRET_KEY_NEXT',
  }
}
