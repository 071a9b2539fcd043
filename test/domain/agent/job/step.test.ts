import { expect, test } from 'bun:test'
import { GENERATION_WAIT_MS } from '#domain/agent/job/limits'
import { timeOf } from '#domain/agent/job/step'
import { at, DAY, HOUR } from '#test/domain/records'

test('a step counts for the time that it took, whatever the clock does meanwhile', () => {
  const taking = (ms: number) => timeOf({ started_at: at(), ended_at: at(ms) })
  expect([0, 1_500, GENERATION_WAIT_MS].map(taking)).toEqual([0, 1_500, GENERATION_WAIT_MS])
  expect([-HOUR, HOUR, 2 * DAY].map(taking)).toEqual([0, GENERATION_WAIT_MS, GENERATION_WAIT_MS])
})
