/**
 * What it costs the database to find the rules that a letter fires: nothing in a workspace without
 * such rules.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { gateHook } from '#decisions/gate'
import { withRuns } from '#decisions/growth/occurrences'
import { newRule } from '#domain/growth/rules/rule'
import type { TriggerInput } from '#domain/growth/rules/rule-trigger'
import { newId } from '#kernel/ids'
import { type Db, openDb, type Sql } from '#store/engine/db'
import { gate } from '#store/engine/gate'
import type { Effects } from '#store/engine/letter'
import { insertRule } from '#store/growth/rules'
import { freshDb, type TestDatabase } from '#test/support/database/db'

let database: TestDatabase
let owner: postgres.Sql
let db: Db
beforeAll(async () => {
  database = await freshDb()
  owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
  db = openDb({ ...database.options, max: 1 })
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await owner.end()
  await database[Symbol.asyncDispose]()
})

/** Counts statements by how they begin; fragments do not count. */
const countingStatements = (sql: Sql): { sql: Sql; statements(): number } => {
  let count = 0
  const apply = (target: Sql, self: unknown, args: unknown[]) => {
    if (/^\s*(select|with)\b/.test((args[0] as Partial<TemplateStringsArray>).raw?.[0] ?? ''))
      count++
    return Reflect.apply(target as never, self, args)
  }
  return { sql: new Proxy(sql, { apply }), statements: () => count }
}

const counted = { impressions: 10, likes: 1, replies: 0, reposts: 0, quotes: 0, clicks: 0 }

/** A post was published, another's post scored 40, and one of ours was seen by 10. */
const everything: Effects = {
  events: [{ type: 'growth.item.posted', data: { item_id: newId() } }],
  occurrences: [
    { kind: 'signal', ref: newId(), score: 40 },
    { kind: 'metric', ref: newId(), before: null, after: counted, ageMs: 0 },
  ],
}

/**
 * The statements that a workspace with one rule pays for `everything`, and the runs that result.
 */
const paidFor = async (wish?: {
  trigger: TriggerInput
  status?: 'paused'
}): Promise<{ statements: number; runs: number }> => {
  const tenantId = newId()
  const own = { tenantId, owner: newId(), epoch: 1 }
  await owner`insert into tenant (id, name, plan) values (${tenantId}, 'Test', 'team')`
  await owner`insert into actor (tenant_id, owner, epoch) values (${tenantId}, ${own.owner}, 1)`
  const beside = { total: 0, timeZone: 'UTC', now: new Date() }
  return await db.letter(tenantId, async (sql) => {
    const action = { kind: 'draft_batch', count: 1 } as const
    await gate(sql, own, { hook: gateHook })
    if (wish) await insertRule(newRule(newId(), { name: 'Once', action, ...wish }, beside))(sql)
    const open = await gate(sql, own, { hook: gateHook })
    const { sql: counting, statements } = countingStatements(sql)
    const effects = await withRuns(counting, everything, open!)
    return { statements: statements(), runs: effects.work?.length ?? 0 }
  })
}

test('without rules there is no statement', async () => {
  expect(await paidFor()).toEqual({ statements: 0, runs: 0 })
})

test('a rule that is paused, or waits for something else, costs no statement', async () => {
  expect(await paidFor({ trigger: { kind: 'item_posted' }, status: 'paused' })).toEqual({
    statements: 0,
    runs: 0,
  })
  expect(await paidFor({ trigger: { kind: 'batch_settled' } })).toEqual({ statements: 0, runs: 0 })
  expect(await paidFor({ trigger: { kind: 'cron', pattern: '0 9 * * *' } })).toEqual({
    statements: 0,
    runs: 0,
  })
})

test('a rule that does not fire costs one statement, however much has happened', async () => {
  expect(await paidFor({ trigger: { kind: 'signal', min_score: 41 } })).toEqual({
    statements: 1,
    runs: 0,
  })
  expect(
    await paidFor({ trigger: { kind: 'metric', metric: 'impressions', at_least: 11 } }),
  ).toEqual({ statements: 1, runs: 0 })
})

test('a rule that fires costs three statements, and runs', async () => {
  expect(await paidFor({ trigger: { kind: 'signal', min_score: 40 } })).toEqual({
    statements: 3,
    runs: 1,
  })
  expect(await paidFor({ trigger: { kind: 'item_posted' } })).toEqual({ statements: 3, runs: 1 })
})
