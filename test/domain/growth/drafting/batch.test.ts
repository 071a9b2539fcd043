import { describe, expect, test } from 'bun:test'
import {
  type Batch,
  batchItem,
  failedBatch,
  grownBatch,
  newBatch,
  readyBatch,
} from '#domain/growth/drafting/batch'
import type { Draft, DraftSet } from '#domain/growth/drafting/draft'
import {
  GENERATION_RUNS,
  startGeneration,
  type TakenQuota,
} from '#domain/growth/drafting/generation'
import { at, draftedItem } from '#test/domain/records'

const REQUESTED = 4
const taken: TakenQuota = { key: 'posts', period: '2026-11', amount: REQUESTED }
const now = at(60_000)
const usage = { input_tokens: 900, output_tokens: 400, cost_micros: 1_300 }

const queued = newBatch('batch-1', { count: REQUESTED, focus: 'late deliveries', now: at() })
const inFlight = startGeneration(queued, at(1_000))

const draft: Draft = {
  body: draftedItem.body,
  format: draftedItem.format,
  hook: draftedItem.hook,
  rationale: draftedItem.rationale,
  stories: ['I drove a delivery van for a week.'],
  learnings: ['learning-1'],
}
const setOf = (count: number): DraftSet => ({
  drafts: Array.from({ length: count }, () => draft),
  model: 'composer',
  usage,
})

const settledEvent = (batch: Batch) => ({
  type: 'growth.batch.settled',
  data: {
    batch_id: 'batch-1',
    status: batch.status,
    error: batch.error,
    requested: REQUESTED,
    delivered: batch.delivered,
  },
})

describe('in flight', () => {
  test('a new batch is queued, empty and without an error', () => {
    expect(queued).toEqual({
      id: 'batch-1',
      status: 'queued',
      error: null,
      focus: 'late deliveries',
      experiment_id: null,
      rule_id: null,
      requested: REQUESTED,
      delivered: 0,
      shortfall: null,
      model: null,
      usage: null,
      created_at: at(),
      updated_at: at(),
    })
  })

  test('a claimed batch is generating', () => {
    expect(inFlight).toEqual({ ...queued, status: 'generating', updated_at: at(1_000) })
  })

  test('a batch whose process dies runs once more', () => {
    expect(GENERATION_RUNS).toBe(2)
  })
})

describe('ready', () => {
  const NO_MORE =
    'generation_failed: no further draft was valid; add evidence to the profile, or ask for fewer posts with a shorter focus'
  test.each([
    ['all that was asked for', 4, 4, null, []],
    [
      'some of it: the rest goes back to the month it was taken from',
      3,
      3,
      `3 of 4 drafted: ${NO_MORE}`,
      [{ ...taken, amount: -1 }],
    ],
    ['one draft', 1, 1, `1 of 4 drafted: ${NO_MORE}`, [{ ...taken, amount: -3 }]],
    ['more than was asked for: no more than that counts', 6, 4, null, []],
  ])('with %s', (_, drafts, delivered, shortfall, refund) => {
    const done = readyBatch(inFlight, setOf(drafts), { taken, now })
    const { record } = done
    expect(record).toEqual({
      ...inFlight,
      status: 'ready',
      error: null,
      delivered,
      shortfall,
      model: 'composer',
      usage,
      updated_at: now,
    })
    expect(done.refund).toEqual(refund)
    expect(done.events).toEqual([
      settledEvent(done.record),
      {
        type: 'growth.approval.requested',
        data: { kind: 'batch', batch_id: 'batch-1', items: delivered },
      },
    ])
  })

  test('with the posts of earlier runs, if a later one fails: it says how many and why', () => {
    const grown = grownBatch(inFlight, setOf(2), now)
    for (const error of ['generation_failed: write plainer', 'cancelled', 'enqueue_failed']) {
      const { record, refund } = failedBatch(grown, error, { taken, now })
      expect(record).toMatchObject({
        status: 'ready',
        error: null,
        delivered: 2,
        shortfall: `2 of 4 drafted: ${error}`,
      })
      expect(refund).toEqual([{ ...taken, amount: -2 }])
    }
  })

  test('takes at least one draft; a batch without any has failed and asks for no approval', () => {
    const done = readyBatch(inFlight, setOf(0), { taken, now })
    expect(done.record).toMatchObject({ status: 'failed', delivered: 0 })
    expect(done.record.error).toMatch(/^generation_failed: \S/)
    expect(done.refund).toEqual([{ ...taken, amount: -REQUESTED }])
    expect(done.events).toEqual([settledEvent(done.record)])
  })
})

describe('failed', () => {
  test.each([['generation_failed: ask for fewer posts'], ['cancelled'], ['enqueue_failed']])(
    'with %s: the whole quota is given back',
    (error) => {
      for (const batch of [queued, inFlight]) {
        const done = failedBatch(batch, error, { taken, now })
        expect(done.record).toEqual({
          ...batch,
          status: 'failed',
          error,
          delivered: 0,
          updated_at: now,
        })
        expect(done.refund).toEqual([{ ...taken, amount: -REQUESTED }])
        expect(done.events).toEqual([settledEvent(done.record)])
      }
    },
  )

  test('gives nothing back if nothing was charged', () => {
    expect(
      failedBatch(queued, 'cancelled', { taken: { ...taken, amount: 0 }, now }).refund,
    ).toEqual([])
  })
})

test('a draft becomes an item that waits for approval, with all fields from the drafter', () => {
  const item = batchItem(draft, { id: 'item-1', batch: queued, length: 31, now: at() })
  expect(item).toEqual({
    ...draftedItem,
    stories: ['I drove a delivery van for a week.'],
    learnings: ['learning-1'],
  })
})
