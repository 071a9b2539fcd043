import { expect, test } from 'bun:test'
import { tableOf } from '../table.ts'
import { rejections, STEPS_OF_JOB } from './steps.ts'
import { overheadOf } from './turns.ts'

test("a turn's overhead is its time without the median of the model alone", () => {
  const turns = Array.from({ length: 100 }, (_, nth) => 210 + nth)
  expect(overheadOf(turns, [199, 200, 900])).toEqual({ overheadMs: 60, overheadP99Ms: 109 })
})

test('an overhead is written beside the times that it is a part of', () => {
  const [, , line] = tableOf([
    { what: 'a turn', figures: { p50Ms: 220, overheadMs: 20, overheadP99Ms: 31.2 } },
  ])
  expect(line).toBe(
    '| a turn | p50 220 ms, beside the model 20 ms, beside it p99 31.2 ms |  |  |  |  |',
  )
})

test('a job rejects each of its drafts once, in answers of as many calls as an answer may have', () => {
  const drafts = Array.from({ length: STEPS_OF_JOB }, (_, nth) => ({
    id: String(nth),
    tenant: { id: 'a', key: 'b' },
  }))
  const plan = rejections(drafts)
  expect(plan.map((calls) => calls.length)).toEqual([16, 16])
  expect(plan.flat().map(([, { id }]) => id)).toEqual(drafts.map(({ id }) => id))
})
