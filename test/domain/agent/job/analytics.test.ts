/** The window of the agent's analytics: whole days on the clocks of a time zone. */
import { expect, test } from 'bun:test'
import { actionsView, costView, daysOf, tasksView } from '#domain/agent/job/analytics'

test('a window ends with today, on the clocks of the zone', () => {
  const at = new Date('2026-11-16T23:30:00Z')
  const [utc, tokyo] = [daysOf('7d', at, 'UTC'), daysOf('7d', at, 'Asia/Tokyo')]
  expect([utc.days[0], utc.days.at(-1), utc.starts[0]]).toEqual([
    '2026-11-10',
    '2026-11-16',
    new Date('2026-11-10T00:00:00Z'),
  ])
  expect([tokyo.days[0], tokyo.days.at(-1), tokyo.starts[0]]).toEqual([
    '2026-11-11',
    '2026-11-17',
    new Date('2026-11-10T15:00:00Z'),
  ])
  expect(daysOf('30d', at, 'UTC').days.length).toBe(30)
})

test('days are as long as the clocks make them', () => {
  const { days, starts } = daysOf('7d', new Date('2026-10-26T12:00:00Z'), 'Europe/Berlin')
  const hours = starts
    .slice(1)
    .map((start, index) => [days[index], (start.getTime() - starts[index]!.getTime()) / 3_600_000])
  expect(Object.fromEntries(hours)).toMatchObject({ '2026-10-24': 24, '2026-10-25': 25 })
})

test('each day is there, with jobs or without', () => {
  const days = daysOf('7d', new Date('2026-11-16T12:00:00Z'), 'UTC')
  const ended = [
    { day: 2, completed: 3, failed: 1, cancelled: 4 },
    { day: 7, completed: 1, failed: 0, cancelled: 0 },
  ]
  const { by_day, ...sums } = tasksView(days, ended, 2)
  expect(sums).toEqual({ completed: 4, failed: 1, cancelled: 4, running: 2 })
  expect(
    by_day.map(({ date, completed, failed }) => `${date.slice(-2)} ${completed} ${failed}`),
  ).toEqual(['10 0 0', '11 3 1', '12 0 0', '13 0 0', '14 0 0', '15 0 0', '16 1 0'])
})

test('actions are summed by module, those of tools that are gone as well', () => {
  const modules: Record<string, string> = {
    growth_overview: 'growth',
    get_current_time: 'agent',
    remember: 'agent',
  }
  const calls = [
    { tool: 'growth_overview', calls: 3 },
    { tool: 'get_current_time', calls: 2 },
    { tool: 'remember', calls: 2 },
    { tool: 'crm_find', calls: 1 },
  ]
  const { total, by_tool, by_module } = actionsView(calls, (tool) => modules[tool])
  expect([total, by_tool.length, by_tool.at(-1)]).toEqual([
    8,
    4,
    { tool: 'crm_find', module: 'other', calls: 1 },
  ])
  expect(by_module).toEqual([
    { module: 'agent', calls: 4 },
    { module: 'growth', calls: 3 },
    { module: 'other', calls: 1 },
  ])
  expect(actionsView([], () => undefined)).toEqual({ total: 0, by_tool: [], by_module: [] })
})

test('a started cent counts', () => {
  expect(costView({ cost: 101, input_tokens: 5, output_tokens: 6 })).toEqual({
    usd_cents: 2,
    input_tokens: 5,
    output_tokens: 6,
    is_estimated: true,
  })
  expect(costView({ cost: 0, input_tokens: 0, output_tokens: 0 }).usd_cents).toBe(0)
})
