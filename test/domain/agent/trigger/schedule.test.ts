import { describe, expect, test } from 'bun:test'
import {
  cameDue,
  cancelSchedule,
  newSchedule,
  nextTimes,
  pauseSchedule,
  ranOut,
  recordRun,
  type Schedule,
  type ScheduleInput,
  type ScheduleStatus,
  scheduleLimits,
  updateSchedule,
} from '#domain/agent/trigger/schedule'
import { errorOf, faultOf } from '#test/domain/errors'
import { at, HOUR } from '#test/domain/records'

const maker = { kind: 'session', id: 's-1', personId: 'p-1' } as const
const editor = { kind: 'session', id: 's-2', personId: 'p-2' } as const
const beside = { active: 0, now: at() }
const from = { on_behalf: maker, taint: ['fetch_url example.org'], tools: null }
const make = (input: Partial<ScheduleInput> = {}): Schedule =>
  newSchedule('s', { goal: ' Look ', cron: '0 9 * * *', ...input }, from, beside)
const daily = make()
const once = make({ cron: undefined, at: at(HOUR) })
const change = (before: Schedule, patch: Parameters<typeof updateSchedule>[1], active = 0) =>
  updateSchedule(before, patch, editor, { active, now: at() })

describe('a new schedule', () => {
  test('is active, with its next time, in UTC unless another zone is named', () => {
    expect(daily).toMatchObject({
      goal: 'Look',
      status: 'active',
      time_zone: 'UTC',
      on_behalf: maker,
      taint: from.taint,
      failures: 0,
    })
    expect(daily.next_at).toEqual(nextTimes(daily, at())[0]!)
    expect(once).toMatchObject({ at: at(HOUR), pattern: null, next_at: at(HOUR) })
  })

  test.each([
    ['neither a time nor a pattern', { cron: undefined }, 'at'],
    ['both', { at: at(HOUR) }, 'cron'],
    ['a time that has passed', { cron: undefined, at: at() }, 'at'],
    ['more often than every 15 minutes', { cron: '*/10 * * * *' }, 'cron'],
    ['what is no pattern', { cron: 'daily' }, 'cron'],
    ['a day that never comes', { cron: '0 0 31 2 *' }, 'cron'],
  ] as const)('is refused with %s', (_, input, path) => {
    expect(faultOf(() => make(input))).toBe(path)
  })

  test('is refused beside fifty active ones', () => {
    const full = { active: scheduleLimits.active, now: at() }
    expect(
      errorOf(() => newSchedule('s', { goal: 'Look', cron: '0 9 * * *' }, from, full)).code,
    ).toBe('conflict')
  })
})

test('times follow the clocks of the zone through both changes of summer time', () => {
  const berlin = make({ cron: '30 2 * * *', timeZone: 'Europe/Berlin' })
  const from28 = nextTimes(berlin, new Date('2026-03-28T12:00:00Z')).map((time) =>
    time.toISOString(),
  )
  expect(from28).toEqual([
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:30:00.000Z',
    '2026-03-31T00:30:00.000Z',
  ])
  const from24 = nextTimes(berlin, new Date('2026-10-24T12:00:00Z')).map((time) =>
    time.toISOString(),
  )
  expect(from24).toEqual([
    '2026-10-25T00:30:00.000Z',
    '2026-10-26T01:30:00.000Z',
    '2026-10-27T01:30:00.000Z',
  ])
})

const all: ScheduleStatus[] = ['active', 'paused', 'cancelled', 'done']
const inState = (status: ScheduleStatus): Schedule => ({
  ...daily,
  status,
  ...(status === 'active' ? {} : { next_at: null }),
  paused_by: status === 'paused' ? 'failures' : null,
  failures: status === 'paused' ? 3 : 0,
})

/** What each change makes of each state; an error's code. */
const matrix: Record<string, [change: (before: Schedule) => Schedule, ...after: string[]]> = {
  activate: [
    (before) => change(before, { status: 'active' }),
    'active',
    'active',
    'active',
    'active',
  ],
  pause: [
    (before) => change(before, { status: 'paused' }),
    'paused',
    'paused',
    'conflict',
    'conflict',
  ],
  edit: [(before) => change(before, { goal: 'Other' }), 'active', 'paused', 'cancelled', 'done'],
  move: [
    (before) => change(before, { cron: '0 8 * * *' }),
    'active',
    'paused',
    'cancelled',
    'done',
  ],
  cancel: [(before) => cancelSchedule(before, at()), 'cancelled', 'cancelled', 'cancelled', 'done'],
  'caller gone': [
    (before) => pauseSchedule(before, 'caller_gone', at()),
    'paused',
    'conflict',
    'conflict',
    'conflict',
  ],
  'third failure': [
    (before) =>
      ranOut({ ...before, failures: 2 }, { status: 'failed', error: 'model_required' }, at()),
    ...['paused', 'paused', 'cancelled', 'done'],
  ],
  'run completed': [(before) => ranOut(before, { status: 'completed', error: null }, at()), ...all],
  'run cancelled': [(before) => ranOut(before, { status: 'cancelled', error: null }, at()), ...all],
}

const cells = Object.entries(matrix).flatMap(([name, [act, ...after]]) =>
  all.map((before, index) => [name, before, after[index]!, act] as const),
)

test.each(cells)('%s: %s becomes %s', (_, before, after, act) => {
  const code = (run: () => Schedule): string => {
    try {
      const { status, next_at, paused_by } = run()
      // Only an active schedule has a next time, and only a paused one a reason.
      expect([next_at !== null, paused_by !== null]).toEqual([
        status === 'active',
        status === 'paused',
      ])
      return status
    } catch (cause) {
      return (cause as { code: string }).code
    }
  }
  expect(code(() => act(inState(before)))).toBe(after)
})

test('activating again forgets the failures, and is refused beside fifty others', () => {
  expect(change(inState('paused'), { status: 'active' })).toMatchObject({
    failures: 0,
    paused_by: null,
  })
  expect(
    errorOf(() => change(inState('paused'), { status: 'active' }, scheduleLimits.active)).code,
  ).toBe('conflict')
  expect(change(daily, { status: 'active' }, scheduleLimits.active)).toMatchObject({
    status: 'active',
  })
})

test('a schedule for a time that has passed is active again only with another time', () => {
  const passed: Schedule = { ...once, at: at(-HOUR), status: 'done', next_at: null }
  expect(faultOf(() => change(passed, { status: 'active' }))).toBe('at')
  expect(change(passed, { status: 'active', at: at(2 * HOUR) })).toMatchObject({
    status: 'active',
    next_at: at(2 * HOUR),
  })
})

test('whoever activates a schedule whose maker has left is the one in whose name it runs', () => {
  const abandoned = pauseSchedule(daily, 'caller_gone', at())
  expect(change(abandoned, { status: 'active' })).toMatchObject({
    status: 'active',
    on_behalf: editor,
    taint: from.taint,
  })
  expect(change(abandoned, { timeZone: 'Europe/Berlin' }).on_behalf).toEqual(maker)
  expect(change(pauseSchedule(daily, 'failures', at()), { status: 'active' }).on_behalf).toEqual(
    maker,
  )
})

test('whoever rewrites the goal or the tools is the one in whose name it runs; other changes keep the maker', () => {
  expect(change(daily, { goal: 'Other' })).toMatchObject({
    on_behalf: editor,
    taint: [],
    goal: 'Other',
  })
  expect(change(daily, { tools: ['growth_overview'] })).toMatchObject({
    on_behalf: editor,
    taint: from.taint,
  })
  expect(change(daily, { cron: '0 8 * * *' })).toMatchObject({
    on_behalf: maker,
    taint: from.taint,
  })
})

test('another zone moves a pattern, and leaves a time as it is', () => {
  expect(change(daily, { timeZone: 'Europe/Berlin' }).next_at).not.toEqual(daily.next_at)
  expect(change(once, { timeZone: 'Europe/Berlin' })).toMatchObject({
    next_at: once.next_at,
    time_zone: 'Europe/Berlin',
  })
})

describe('a time that has come', () => {
  const due = daily.next_at!
  const late = (schedule: Schedule, ms: number) =>
    cameDue(schedule, new Date(schedule.next_at!.getTime() + ms))

  test.each([
    ['at once', 0, true],
    ['just within the hour', HOUR - 1, true],
    ['an hour late', HOUR, false],
    ['days late', 60 * HOUR, false],
  ])('has a run when noticed %s', (_, ms, runs) => {
    const { schedule, run, missed } = late(daily, ms)
    expect([run, missed]).toEqual(runs ? [due, undefined] : [undefined, due])
    expect([schedule.status, schedule.missed]).toEqual(['active', runs ? 0 : 1])
    expect(schedule.next_at!.getTime()).toBeGreaterThan(due.getTime() + ms)
  })

  test('ends a schedule that runs once, whether it ran or not', () => {
    expect(late(once, 0)).toMatchObject({
      run: at(HOUR),
      schedule: { status: 'done', next_at: null, missed: 0 },
    })
    expect(late(once, HOUR)).toMatchObject({
      run: undefined,
      missed: at(HOUR),
      schedule: { status: 'done', missed: 1 },
    })
  })
})

test('three failures in a row pause a schedule, and a run that completes starts the count anew', () => {
  const failed = { status: 'failed', error: 'model_required' } as const
  let schedule = recordRun(daily, { job: 'j', conversation: 'c', now: at() })
  for (const count of [1, 2]) {
    schedule = ranOut(schedule, failed, at())
    expect(schedule).toMatchObject({ status: 'active', failures: count })
  }
  expect(
    ranOut(ranOut(schedule, { status: 'completed', error: null }, at()), failed, at()),
  ).toMatchObject({ failures: 1 })
  expect(ranOut(schedule, failed, at())).toMatchObject({
    status: 'paused',
    paused_by: 'failures',
    failures: 3,
  })
  expect(ranOut(daily, { status: 'failed', error: 'caller_gone' }, at())).toMatchObject({
    status: 'paused',
    paused_by: 'caller_gone',
  })
})
