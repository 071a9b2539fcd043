/**
 * A process dies around a run: occurrence and run are one commit, and each rule runs once for it.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { type TestFailpoints, testFailpoints } from '#test/support/actors/failpoints'
import { testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { endLeases } from '#test/support/database/writes'
import { newRules, type Rules, rulesOf } from '#test/support/growth/rule-story'
import { crash } from '#test/support/growth/story'
import { writingDrafter } from '#test/support/model/held-drafter'
import { useEach } from '#test/support/use'

const times = { ...sendTimes, settleMs: 50 }
const afterPost = { trigger: { kind: 'item_posted' }, action: { kind: 'draft_batch', count: 2 } }

let points: TestFailpoints
afterEach(() => {
  for (const name of places) points.release(name)
})
const db = useEach(freshDb)
beforeEach(() => {
  points = testFailpoints()
})
const dying = useEach(() =>
  testApp({
    database: db.options,
    overrides: { times, failpoints: points.at, drafter: writingDrafter() },
  }),
)

const places = [
  'letter.deciding:send.settle',
  'send.sent',
  'rule.acting',
  'rule.firing',
  'generation.claimed',
  'generation.drafted',
]

/** Checks the same workspace on the next server. */
const afterwards = async (rules: Rules, ruleId: string): Promise<void> => {
  await crash(dying)
  await using next = await testApp({
    database: db.options,
    overrides: { times, drafter: writingDrafter() },
  })
  const there = rulesOf(rules.story.at(next))
  // Skips the wait for the end of the dead process's claim.
  await next.owner`update work set run_at = now() where kind = 'reconcile'`
  const run = await there.ended(ruleId)
  expect(run).toMatchObject({ status: 'done', cost: { quota: 'posts', units: run.cost.units } })
  const batches =
    await next.owner`select id, delivered from batch where tenant_id = ${rules.story.tenantId}`
  expect([...batches]).toEqual([{ id: run.made!.id, delivered: run.cost.units }])
  const [counter] =
    await next.owner`select used from counter where tenant_id = ${rules.story.tenantId}
      and key = 'posts'`
  expect(counter!.used).toBe(run.cost.units)
}

test.each(['rule.acting', 'generation.claimed', 'generation.drafted'])(
  'at %s: the run is finished by the next one, once',
  async (place) => {
    const rules = await newRules(dying)
    const { id } = await rules.create(afterPost)
    points.arm(place, 'hang')
    const item = await rules.story.approved()
    await rules.story.send('POST', `items/${item}/posted`, { body: {} })
    await points.reached(place)
    await afterwards(rules, id)
  },
)

test('before the outcome of the post is saved: the run is saved with it', async () => {
  const rules = await newRules(dying)
  const { id } = await rules.create(afterPost)
  points.arm('letter.deciding:send.settle', 'hang')
  const item = await rules.story.approved()
  rules.story.send('POST', `items/${item}/post-now`).catch(() => {})
  await points.reached('letter.deciding:send.settle')
  await endLeases(dying)
  await afterwards(rules, id)
})

test('at a time of a cron pattern: its run is made once', async () => {
  const rules = await newRules(dying)
  const { id } = await rules.create({
    ...afterPost,
    trigger: { kind: 'cron', pattern: '0 0 1 1 *' },
  })
  points.arm('rule.firing', 'hang')
  await dying.owner`update work set run_at = date_trunc('minute', now()) where kind = 'rule_cron'`
  // Resuming makes the process look for due work; the next caller then waits behind the claim that
  // hangs.
  rules.story.send('POST', 'automation/resume-all').catch(() => {})
  await points.reached('rule.firing')
  await afterwards(rules, id)
})
