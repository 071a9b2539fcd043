/**
 * Rules with a cron pattern: each time triggers one run, by the database's clock; missed times
 * never run in a burst.
 */
import { afterEach, beforeEach, expect, setSystemTime, test } from 'bun:test'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { newRules, type Rules, rulesOf } from '#test/support/growth/rule-story'
import { writingDrafter } from '#test/support/model/held-drafter'
import { useEach } from '#test/support/use'

let app: TestApp
afterEach(async () => {
  setSystemTime()
  await app[Symbol.asyncDispose]()
})
const db = useEach(steppedDb)
beforeEach(async () => {
  app = await testApp({ database: db.options, overrides: { drafter: writingDrafter() } })
  await db.clock.set(new Date('2026-11-23T08:00:00Z'))
})

const daily = (hour: number, more: object = {}) => ({
  trigger: { kind: 'cron', pattern: `0 ${hour} * * *`, time_zone: 'UTC', ...more },
  action: { kind: 'draft_batch', count: 1 },
})
const hourly = { ...daily(0), trigger: { kind: 'cron', pattern: '0 * * * *', time_zone: 'UTC' } }

/**
 * Sets the database's clock to `time` and waits until everything due, and allowed to run, has run.
 */
const reach = async ({ story }: Rules, time: string): Promise<void> => {
  await db.clock.set(new Date(time))
  // A step of the clock can end the process's claim to the workspace, which answers 503 until the
  // process has it again.
  const { body } = await eventually(
    () => story.send('POST', 'batches', { body: { count: 1 } }),
    ({ status }) => status === 201,
  )
  const isWritten = async () =>
    (await story.send('GET', `batches/${body.batch.id}`)).body.batch?.status === 'ready'
  expect(await eventually(isWritten, Boolean)).toBe(true)
  const due = () =>
    app.owner`select w.id from work w join actor a using (tenant_id) where not a.paused
      and w.run_at <= clock_timestamp()`
  expect(await eventually(due, (rows) => rows.length === 0)).toHaveLength(0)
}

/** Stops the process, and starts another one at `time`. */
const downUntil = async (rules: Rules, time: string): Promise<Rules> => {
  await app[Symbol.asyncDispose]()
  await db.clock.set(new Date(time))
  app = await testApp({ database: db.options, overrides: { drafter: writingDrafter() } })
  const restarted = rulesOf(rules.story.at(app))
  await reach(restarted, time)
  return restarted
}

const outcomes = async (rules: Rules, ruleId: string, count: number) =>
  (await rules.settled(ruleId, count)).map(({ status, reason, trigger }) => [
    trigger.ref.slice(5, 16),
    reason ?? status,
  ])

test('a rule runs once at each of its times and shows the next one', async () => {
  const rules = await newRules(app)
  const rule = await rules.create(daily(9))
  expect(rule.next_run_at).toBe('2026-11-23T09:00:00.000Z')
  setSystemTime(new Date('2026-11-23T09:30:00Z'))
  await reach(rules, '2026-11-23T08:59:00Z')
  expect(await rules.runs()).toEqual([])
  await reach(rules, '2026-11-23T09:00:30Z')
  expect(await outcomes(rules, rule.id, 1)).toEqual([['11-23T09:00', 'done']])
  expect((await rules.rule(rule.id)).next_run_at).toBe('2026-11-24T09:00:00.000Z')
  await reach(rules, '2026-11-24T09:00:00Z')
  expect(await outcomes(rules, rule.id, 2)).toEqual([
    ['11-24T09:00', 'done'],
    ['11-23T09:00', 'done'],
  ])
})

test('of missed times the last one runs late if it is less than an hour ago; the others are listed as one skipped run', async () => {
  const rules = await newRules(app)
  const rule = await rules.create(hourly)
  const restarted = await downUntil(rules, '2026-11-23T12:20:00Z')
  expect((await outcomes(restarted, rule.id, 2)).sort()).toEqual([
    ['11-23T09:00', 'missed'],
    ['11-23T12:00', 'done'],
  ])
  expect((await restarted.rule(rule.id)).next_run_at).toBe('2026-11-23T13:00:00.000Z')
})

test('a time that comes again because the clock steps back triggers nothing', async () => {
  const rules = await newRules(app)
  const rule = await rules.create(daily(9))
  await reach(rules, '2026-11-23T09:00:10Z')
  await rules.settled(rule.id, 1)
  await db.clock.set(new Date('2026-11-23T08:30:00Z'))
  // The work, made anew, is for the same time again.
  for (const status of ['paused', 'active']) await rules.update(rule.id, { status })
  expect((await rules.rule(rule.id)).next_run_at).toBe('2026-11-23T09:00:00.000Z')
  await reach(rules, '2026-11-23T09:00:10Z')
  await eventually(
    () => rules.rule(rule.id),
    ({ next_run_at }) => next_run_at === '2026-11-24T09:00:00.000Z',
  )
  expect(await outcomes(rules, rule.id, 1)).toEqual([['11-23T09:00', 'done']])
})

test('times that pass while automation is paused do not run; the rule goes on with the next one', async () => {
  const rules = await newRules(app)
  const rule = await rules.create(hourly)
  await rules.story.send('POST', 'automation/pause-all')
  expect(await rules.rule(rule.id)).toMatchObject({
    status: 'paused',
    paused_by: 'all',
    next_run_at: null,
  })
  await reach(rules, '2026-11-23T11:10:00Z')
  expect(await rules.runs()).toEqual([])
  await rules.story.send('POST', 'automation/resume-all')
  expect(await rules.rule(rule.id)).toMatchObject({
    status: 'active',
    next_run_at: '2026-11-23T12:00:00.000Z',
  })
  expect(await outcomes(rules, rule.id, 1)).toEqual([['11-23T09:00', 'paused']])
  await reach(rules, '2026-11-23T12:00:00Z')
  expect(await outcomes(rules, rule.id, 2)).toEqual([
    ['11-23T12:00', 'done'],
    ['11-23T09:00', 'paused'],
  ])
})

test("times are in the rule's time zone, by default the profile's when the rule was made", async () => {
  const rules = await newRules(app)
  await rules.story.send('PUT', 'profile', { body: { time_zone: 'Europe/Berlin' } })
  const { trigger, ...berlin } = await rules.create({
    ...daily(9),
    trigger: { kind: 'cron', pattern: '30 9 * * 1' },
  })
  expect([trigger.time_zone, berlin.next_run_at]).toEqual([
    'Europe/Berlin',
    '2026-11-23T08:30:00.000Z',
  ])
  await rules.story.send('PUT', 'profile', { body: { time_zone: 'Asia/Tokyo' } })
  expect((await rules.rule(berlin.id)).trigger.time_zone).toBe('Europe/Berlin')
})

test('changing the pattern moves the next time; pausing removes it until the rule is active again', async () => {
  const rules = await newRules(app)
  const { id } = await rules.create(daily(9))
  const next = async (patch: object) => (await rules.update(id, patch)).body.rule.next_run_at
  expect(await next({ name: 'Another' })).toBe('2026-11-23T09:00:00.000Z')
  expect(await next(daily(10))).toBe('2026-11-23T10:00:00.000Z')
  expect(await next({ status: 'paused' })).toBeNull()
  await reach(rules, '2026-11-23T10:00:10Z')
  expect(await rules.runs()).toEqual([])
  expect(await next({ status: 'active' })).toBe('2026-11-24T10:00:00.000Z')
  expect(await next({ trigger: { kind: 'item_posted' } })).toBeNull()
  expect(await next(daily(11))).toBe('2026-11-23T11:00:00.000Z')
})
