/** The hold on a database whose owner is no superuser, so that policies bind it. */

import { beforeAll, beforeEach, expect, test } from 'bun:test'
import postgres from 'postgres'
import { type Config, readConfig } from '#config/config'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { secretKeyOf } from '#kernel/secret'
import { adoptIdentity, showIdentity } from '#server/adopt'
import { settleIdentity } from '#server/identity'
import { checkCanary } from '#store/engine/canary'
import {
  endHold,
  lockStanding,
  readStanding,
  setIdentity,
  stillHeld,
  vouch,
} from '#store/engine/hold'
import { withLogins } from '#store/engine/logins'
import { migrate } from '#store/engine/migrate'
import { everyTenant, inTenant, transactAsOwner } from '#store/engine/owner'
import { type Sql, sqlOf } from '#store/engine/sql'
import { unmarkRestored } from '#store/growth/restored'
import { fillTables } from '#test/support/backup/logical'
import { TEST_SECRET } from '#test/support/database/db'
import { managedDb } from '#test/support/database/managed'
import { use } from '#test/support/use'

const db = use(managedDb)
const log = createLog('silent')

const place = (host: string): Config => ({
  ...readConfig({}),
  databaseUrl: `postgres://me@${host}/tendril`,
})
const root = <T>(ask: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
  const sql = postgres({ ...db.root, max: 1, onnotice: () => {} })
  return ask(sql).finally(() => sql.end())
}
const standing = () => root((sql) => readStanding(sqlOf(sql)))
const started = async (host: string): Promise<string | null> => {
  await settleIdentity(place(host), db.options, log)
  return (await standing()).cause
}
const adopt = (host: string, more: object = {}) =>
  adoptIdentity(place(host), db.options, {
    moved: false,
    removesObjects: false,
    endsSessions: false,
    confirmed: true,
    ...more,
  }) as Promise<object>
/** The workspaces of the marked records, one by one. */
const marks = () =>
  root(async (sql) =>
    (
      await sql`select tenant_id from item where restored_as_of is not null
        union all select tenant_id from engagement where restored_as_of is not null order by 1`
    ).map(({ tenant_id }) => tenant_id),
  )

const unmarkAll = () =>
  root(async (sql) => {
    await sql`update item set restored_as_of = null`
    await sql`update engagement set restored_as_of = null`
  })

let [first, second] = ['', '']
beforeAll(async () => {
  await migrate(db.options, log)
  await checkCanary(db.options, [secretKeyOf(TEST_SECRET)])
  await fillTables(await withLogins(db.options, secretKeyOf(TEST_SECRET), log), db.root)
  ;[first = '', second = ''] = await transactAsOwner(db.options, everyTenant)
})
beforeEach(async () => {
  await unmarkAll()
  await root(async (sql) => {
    await sql`update item set status = 'approved'`
    await sql`update engagement set status = 'approved'`
    await sql`update session set revoked_at = null, expires_at = now() + interval '1 day'`
    await sql`update deployment set identity = null`
    await sql`update hold set since = null, cause = null, as_of = null, identity = null,
      marked_before = '{}', restored = null, vouched = false, keeps_objects = false`
    await sql`delete from node`
  })
})

test('a copy is held, its posts and engagements wait, and adopting ends the hold and the sessions', async () => {
  expect(await started('db-1')).toBeNull()
  expect(await marks()).toEqual([])
  expect(await started('db-2')).toBe('copied')
  const all = await marks()
  expect([...new Set(all)]).toEqual([first, second])
  expect(await showIdentity(place('db-2'), db.options)).toMatchObject({
    fits: false,
    undecided: all.length,
    held: { cause: 'copied' },
  })
  const live = () => root((sql) => sql`select id from session where revoked_at is null`)
  expect((await live()).length).toBeGreaterThan(0)
  expect(await adopt('db-2', { endsSessions: true })).toMatchObject({
    adopted: true,
    known_by: { address: 'db-2' },
    waits_for_a_decision: all.length,
  })
  expect(await live()).toHaveLength(0)
  expect(await standing()).toMatchObject({ since: null, identity: { address: 'db-2' } })
  expect(await marks()).toEqual(all)
  expect(await adopt('db-2')).toMatchObject({ adopted: false, reason: 'not_held' })
})

test('before it adopts, an operator sees who can come in as they could before', async () => {
  await started('db-1')
  await started('db-2')
  const [young, ended] = [newId(), newId()]
  await root(async (sql) => {
    await sql`update api_key set revoked_at = null, expires_at = null`
    for (const [id, at, over] of [
      [young, new Date(Date.now() + 3_600_000), null],
      [ended, new Date(0), new Date()],
    ] as const)
      await sql`insert into api_key (id, tenant_id, name, hash, last4, scopes, created_at,
          revoked_at)
        values (${id}, ${first}, 'key', ${Buffer.from(id)}, 'abcd', '{}', ${at}, ${over})`
  })
  const rows = await root(
    (sql) => sql`select id, tenant_id, created_at from api_key
    where id <> ${young} and id <> ${ended} order by created_at desc, id desc`,
  )
  const shown = rows.map(({ id, tenant_id, created_at }) => ({
    id,
    workspace_id: tenant_id,
    created_at,
  }))
  expect(await adopt('db-2', { confirmed: false })).toMatchObject({
    lives_again: {
      keys: { count: rows.length, newest: shown },
      sessions: { count: 2 },
      members: { count: 2, newest: [{ created_at: expect.any(Date) }, {}] },
    },
  })
  await root((sql) => sql`delete from api_key where id in (${young}, ${ended})`)
})

test('what was only moved waits no longer, except where something had waited before', async () => {
  await started('db-1')
  await root((sql) => sql`update item set restored_as_of = now() where tenant_id = ${second}`)
  await started('db-2')
  const before = (await marks()).filter((tenant) => tenant === second)
  expect(await adopt('db-2', { moved: true, confirmed: false })).toMatchObject({
    adopted: false,
    waits_for_a_decision: before.length,
  })
  expect([...new Set(await marks())]).toEqual([first, second])
  expect(await adopt('db-2', { moved: true })).toMatchObject({ adopted: true })
  expect(await marks()).toEqual(before)
})

test('what goes out within the hour is named by its times, but nothing that is paused', async () => {
  await started('db-1')
  const soonest = newId()
  await root(async (sql) => {
    await sql`update item set post_at = null`
    await sql`insert into item (id, tenant_id, kind, status, body, format, hook, rationale, stories,
        learnings, length, created_at, updated_at, post_at)
      select case when n = 0 then ${soonest}::uuid else gen_random_uuid() end,
        case when n = 0 then ${second}::uuid else ${first}::uuid end, 'post', 'approved', 'due', '',
        '', '', '[]', '[]', 3, now(), now(), now() + (n + 1) * interval '10 seconds'
        from generate_series(0, 101) n`
  })
  await started('db-2')
  const due = async () => {
    const shown = await adopt('db-2', { moved: true, confirmed: false })
    const { goes_out_within_an_hour } = shown as {
      goes_out_within_an_hour: { posts: { item_id: string; at: Date }[]; more: boolean }
    }
    return goes_out_within_an_hour
  }
  const { posts, more } = await due()
  expect([posts.length, more, posts[0]!.item_id]).toEqual([100, true, soonest])
  expect(posts).toEqual(posts.toSorted((one, other) => one.at.getTime() - other.at.getTime()))
  await root((sql) => sql`update actor set paused = true where tenant_id = ${first}`)
  expect(await due()).toMatchObject({ posts: [{ item_id: soonest }], more: false })
  await root((sql) => sql`update hold set paused_since = now(), paused_by = 'somebody'`)
  expect(await due()).toEqual({ posts: [], more: false })
  await root(async (sql) => {
    await sql`update hold set paused_since = null, paused_by = null`
    await sql`update actor set paused = false`
    await sql`delete from item where body = 'due'`
  })
})

/** As a command that was killed after the first workspace. */
const beginToTakeBack = async (): Promise<void> => {
  const { since } = await standing()
  await transactAsOwner(db.options, async (sql) => {
    expect(await stillHeld(sql, since!)).toBeDefined()
    await vouch(sql)
  })
  await transactAsOwner(db.options, (sql) => inTenant(sql, first, () => unmarkRestored(sql)))
}

test('adopt --moved that is killed on its way goes on when it is run again', async () => {
  await started('db-1')
  await started('db-2')
  await beginToTakeBack()
  expect([...new Set(await marks())]).toEqual([second])
  expect(await started('db-2')).toBe('copied')
  expect(await adopt('db-2')).toMatchObject({ adopted: true, waits_for_a_decision: 0 })
  expect(await marks()).toEqual([])
  expect(await standing()).toMatchObject({ since: null, vouched: false })
})

test('a copy of what was only half taken back is held anew, and all of it waits', async () => {
  await started('db-1')
  await started('db-2')
  await beginToTakeBack()
  expect(await started('db-3')).toBe('copied')
  expect([...new Set(await marks())]).toEqual([first, second])
  expect(await standing()).toMatchObject({ vouched: false, held_identity: { address: 'db-3' } })
})

test('of commands at the same time one ends the hold', async () => {
  await started('db-1')
  await started('db-2')
  const all = (await marks()).length
  const adopted = (one: PromiseSettledResult<object>) =>
    one.status === 'fulfilled' && (one.value as { adopted: boolean }).adopted ? [one.value] : []
  const same = await Promise.allSettled([adopt('db-2'), adopt('db-2'), adopt('db-2')])
  expect(same.map(({ status }) => status)).toEqual(Array(3).fill('fulfilled'))
  expect(same.flatMap(adopted)).toHaveLength(1)
  // Of two that want different things, the one that ends the hold says what became of the marks.
  await unmarkAll()
  await started('db-3')
  const both = await Promise.allSettled([adopt('db-3', { moved: true }), adopt('db-3')])
  expect(both.flatMap(adopted)).toMatchObject([{ waits_for_a_decision: (await marks()).length }])
  expect(await standing()).toMatchObject({ since: null, vouched: false })
  expect([0, all]).toContain((await marks()).length)
})

test('where the rows cannot be written, nothing is said to be held or adopted', async () => {
  await started('db-1')
  await root((sql) => sql`alter table hold enable row level security`)
  await root((sql) => sql`alter table hold force row level security`)
  try {
    await root((sql) => sql`create policy everybody on hold for select using (true)`)
    await expect(started('db-2')).rejects.toThrow('the hold cannot be written: 0 rows')
    await expect(transactAsOwner(db.options, (sql) => endHold(sql, false))).rejects.toThrow(
      '0 rows',
    )
    expect(await marks()).toEqual([])
  } finally {
    await root((sql) => sql`drop policy everybody on hold`)
    await root((sql) => sql`alter table hold no force row level security`)
    await root((sql) => sql`alter table hold disable row level security`)
  }
  await root((sql) => sql`delete from deployment`)
  try {
    const set = (sql: Sql) => setIdentity(sql, { address: 'db-1' })
    await expect(transactAsOwner(db.options, set)).rejects.toThrow('0 rows')
  } finally {
    await checkCanary(db.options, [secretKeyOf(TEST_SECRET)])
  }
})

test('a lock of others is waited for, and not for ever', async () => {
  const asked = (sql: Sql) => sql<{ ms: string }>`select setting as ms from pg_settings
    where name = 'lock_timeout'`
  const [row] = await transactAsOwner(db.options, async (sql) => await asked(sql))
  expect(row!.ms).toBe('30000')
  await root((holder) =>
    holder.begin(async (tx) => {
      await lockStanding(sqlOf(tx))
      const waiting = transactAsOwner(db.options, async (sql) => {
        await sql`set local lock_timeout = '10ms'`
        await lockStanding(sql)
      })
      await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
    }),
  )
})
