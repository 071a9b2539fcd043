/** Rules on a metric of a post: each runs once an item, when the count crosses its threshold. */
import { expect, test } from 'bun:test'
import { eventually } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { newRules } from '#test/support/growth/rule-story'
import { writingDrafter } from '#test/support/model/held-drafter'
import { use, useApp } from '#test/support/use'

const HOUR = 3_600_000

const db = use(steppedDb)
const app = useApp(() => ({
  database: db.options,
  overrides: { drafter: writingDrafter(), idleMs: 30, sweepMs: 20 },
}))

test('a count that crosses the threshold triggers one run; later counts, and rules made too late, none', async () => {
  const rules = await newRules(app)
  const { story } = rules
  const wait = (more: object) => ({ kind: 'metric', metric: 'impressions', ...more })
  const action = { kind: 'request_audit', days: 7 }
  const low = await rules.create({ trigger: wait({ at_least: 1 }), action })
  const high = await rules.create({ trigger: wait({ at_least: 1_000_000_000 }), action })
  const id = await story.approved()
  expect((await story.send('POST', `items/${id}/post-now`)).status).toBe(200)
  const counts = async () =>
    (await app.owner`select 1 from item_metric where item_id = ${id}`).length
  const later = async (ms: number, count: number) => {
    await db.clock.pass(ms)
    expect(await eventually(counts, (found) => found >= count)).toBeGreaterThanOrEqual(count)
  }
  await later(HOUR, 1)
  expect(await rules.ended(low.id)).toMatchObject({
    status: 'done',
    trigger: { kind: 'metric', ref: id, chain: [] },
    cost: { quota: 'audits', units: 1 },
  })
  const late = await rules.create({ trigger: wait({ at_least: 1 }), action })
  await later(24 * HOUR, 2)
  // The next occurrence; by then every rule has seen the counts.
  const next = await rules.create({ trigger: { kind: 'item_posted' }, action })
  await story.send('POST', `items/${await story.approved()}/posted`, { body: {} })
  await rules.ended(next.id)
  expect(await rules.runs(low.id)).toHaveLength(1)
  expect(await rules.runs(high.id)).toEqual([])
  expect(await rules.runs(late.id)).toEqual([])
})
