/** A second server that would be another deployment is refused. */
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { type Config, readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { adoptIdentity } from '#server/adopt'
import { settleIdentity } from '#server/identity'
import { readStanding } from '#store/engine/hold'
import { holdLock } from '#store/engine/nodes'
import { sqlOf } from '#store/engine/sql'
import { freshDb } from '#test/support/database/db'
import { use } from '#test/support/use'

const db = use(freshDb)
const log = createLog('silent')
const at = (host: string): Config => ({
  ...readConfig({}),
  databaseUrl: `postgres://me:pass@word@${host}/tendril`,
})
const started = (host: string, held = false): Promise<void> =>
  settleIdentity({ ...at(host), held }, db.options, log)

test('while a server lives, one that would be another deployment is refused, as is its adoption, and writes nothing', async () => {
  const owner = postgres({ ...db.options, max: 1, onnotice: () => {} })
  try {
    await owner`insert into deployment (canary) values ('') on conflict do nothing`
    await started('db-1')
    await using lock = await holdLock(db.options, () => {})
    await owner`insert into node (incarnation, lock_key, url, expires_at)
      values (gen_random_uuid(), ${lock.key.toString()}::bigint, 'http://living', now() + '1 hour')`
    await expect(started('127.0.0.1')).rejects.toThrow(
      /known by address db-1, .* at http:\/\/living serves it, .* known by address 127.0.0.1,/,
    )
    const wanted = { removesObjects: false, endsSessions: false, confirmed: true }
    for (const moved of [false, true])
      await expect(
        adoptIdentity(at('127.0.0.1'), db.options, { ...wanted, moved }),
      ).rejects.toThrow(/known by address db-1, .* at http:\/\/living serves it/)
    await expect(started('db-1', true)).rejects.toThrow(/TENDRIL_HELD asks/)
    await started('db-1')
    expect(await readStanding(sqlOf(owner))).toMatchObject({ since: null, cause: null })
  } finally {
    await owner.end()
  }
})
