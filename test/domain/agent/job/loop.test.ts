/** What a job does next, case by case. The simulation tries them in any order. */
import { describe, expect, test } from 'bun:test'
import { type Job, newTurn } from '#domain/agent/job/job'
import { jobLimits } from '#domain/agent/job/limits'
import { nextOf } from '#domain/agent/job/loop'
import type { StepHead } from '#domain/agent/job/step'
import { at, MINUTE } from '#test/domain/records'

const job: Job = {
  ...newTurn('j', {
    conversation_id: 'c',
    message_id: 'm',
    on_behalf: { kind: 'key', id: 'k', personId: null },
    tools: null,
    tier: 'reasoning',
    asked_model: null,
    model: 'm',
    taint: [],
    content: 'go',
    now: at(),
  }),
  status: 'running',
}

const head = (number: number, changes: Partial<StepHead>): StepHead => ({
  id: `s${number}`,
  number,
  kind: 'tool',
  name: 'list',
  state: 'ready',
  class: 'read',
  args_hash: `a${number}`,
  result_hash: null,
  awaits_kind: null,
  awaits: null,
  of_step: 1,
  attempt: 0,
  not_before: null,
  started_at: null,
  way: 'read',
  expires_at: null,
  ...changes,
})
const thought = (number: number, changes: Partial<StepHead> = {}): StepHead =>
  head(number, {
    kind: 'model',
    name: 'm',
    state: 'done',
    class: null,
    way: null,
    of_step: null,
    ...changes,
  })
const command = (number: number, changes: Partial<StepHead> = {}): StepHead =>
  head(number, { way: 'command', class: 'draft', ...changes })

const next = (
  heads: StepHead[],
  changes: Partial<Job> = {},
  mostSteps = 10,
  treeCalls = changes.model_calls ?? 0,
) => nextOf({ ...job, ...changes }, heads, { mostSteps, treeCalls }, at())
const end = (status: string, error: string | null = null) => ({
  kind: 'end',
  end: { status, error },
})

describe('without an open call', () => {
  test.each([
    ['a new job thinks', [], { kind: 'think', step: undefined, last: false }],
    [
      'an answer that could not be used is asked for again',
      [thought(1)],
      { kind: 'think', step: undefined, last: false },
    ],
    [
      'results are given to the model',
      [thought(1), head(2, { state: 'done' })],
      { kind: 'think', step: undefined, last: false },
    ],
    [
      'so are refusals',
      [thought(1), head(2, { state: 'rejected' })],
      { kind: 'think', step: undefined, last: false },
    ],
    [
      'a call of the model that failed for good ends it',
      [thought(1, { state: 'failed' })],
      end('failed', 'model_failed'),
    ],
  ] as const)('%s', (_, heads, expected) => {
    expect(next([...heads])).toEqual(expected as never)
  })

  test('a call of the model that is to be tried again waits for its time', () => {
    const step = thought(1, { state: 'ready', not_before: at(MINUTE) })
    expect(next([step])).toEqual({ kind: 'park', until: at(MINUTE), status: 'running' })
    const due = { ...step, not_before: at() }
    expect(next([due])).toEqual({ kind: 'think', step: due, last: false })
  })

  test('the last thought that the plan allows must conclude, and there is none after it', () => {
    expect(next([], { model_calls: 8 })).toMatchObject({ kind: 'think', last: false })
    expect(next([], { model_calls: 9 })).toMatchObject({ kind: 'think', last: true })
    expect(next([], { model_calls: 10 })).toEqual(end('failed', 'max_steps') as never)
    expect(next([], { model_calls: jobLimits.modelCalls - 1 }, -1)).toMatchObject({
      kind: 'think',
      last: true,
    })
    expect(next([], { model_calls: jobLimits.modelCalls }, 1_000)).toEqual(
      end('failed', 'max_steps') as never,
    )
  })
})

describe('the first open call decides', () => {
  test('a command is executed before a read that follows it, and a read before a command', () => {
    expect(next([thought(1), command(2), head(3, {})])).toMatchObject({
      kind: 'execute',
      step: { number: 2 },
    })
    expect(next([thought(1), head(2, {}), command(3)])).toMatchObject({
      kind: 'read',
      steps: [{ number: 2 }],
    })
  })

  test('reads side by side run together, up to a bound and to the first call that is none', () => {
    const reads = (count: number) =>
      Array.from({ length: count }, (_, index) => head(index + 2, {}))
    const numbersOf = (heads: StepHead[]) => {
      const one = next(heads)
      return one.kind === 'read' ? one.steps.map(({ number }) => number) : one.kind
    }
    expect(numbersOf([thought(1), ...reads(2), command(4), head(5, {})])).toEqual([2, 3])
    expect(numbersOf([thought(1), ...reads(jobLimits.readsAtOnce + 3)])).toHaveLength(
      jobLimits.readsAtOnce,
    )
    expect(numbersOf([thought(1), head(2, {}), head(3, { state: 'asked' }), head(4, {})])).toEqual([
      2,
    ])
  })

  test.each(['reach', 'urgent', 'outside'] as const)('%s runs beside the mailbox, alone', (way) => {
    expect(next([thought(1), head(2, { way }), head(3, {})])).toMatchObject({
      kind: way,
      step: { number: 2 },
    })
  })

  test('one whose record is not settled is looked at', () => {
    expect(next([thought(1), command(2, { state: 'waiting' }), command(3)])).toMatchObject({
      kind: 'look',
      step: { number: 2 },
    })
  })
})

describe('a call that a person must allow', () => {
  const asked = (minutes: number) =>
    command(2, { state: 'asked', expires_at: at(minutes * MINUTE) })

  test('is waited for without a process, until it expires', () => {
    expect(next([thought(1), asked(5), asked(3)])).toEqual({
      kind: 'park',
      until: at(3 * MINUTE),
      status: 'waiting_approval',
    })
    expect(next([thought(1), asked(0)])).toEqual(end('failed', 'approval_expired') as never)
  })

  test('does not hide a record that is waited for: the job looks at it at its time', () => {
    const waiting = command(3, { state: 'waiting', started_at: at() })
    const parked = next([thought(1), asked(5), waiting])
    expect(parked).toMatchObject({ kind: 'park', status: 'waiting_approval' })
    expect((parked as { until: Date }).until.getTime()).toBeLessThan(at(MINUTE).getTime())
  })
})

describe('a child', () => {
  const day = 24 * 60 * MINUTE
  const waiting = (since: number) =>
    command(2, { state: 'waiting', awaits_kind: 'child', awaits: 'c', started_at: at(since) })

  test('is waited for without a look at it, for a day', () => {
    expect(next([thought(1), waiting(-MINUTE), command(3)])).toEqual({
      kind: 'park',
      until: at(day - MINUTE),
      status: 'waiting_child',
    })
    expect(next([thought(1), waiting(1 - day)])).toMatchObject({
      kind: 'park',
      status: 'waiting_child',
    })
    expect(next([thought(1), waiting(-day)])).toMatchObject({
      kind: 'give_up',
      step: { number: 2 },
    })
  })

  test('shares the calls of the model with its tree, and leaves one to each job above it', () => {
    expect(next([], { depth: 2 }, 10, 6)).toMatchObject({ kind: 'think', last: false })
    expect(next([], { depth: 2 }, 10, 7)).toMatchObject({ kind: 'think', last: true })
    expect(next([], { depth: 2 }, 10, 8)).toEqual(end('failed', 'max_steps') as never)
  })

  test('makes no more of them than it was given', () => {
    expect(next([], { most_steps: 3, model_calls: 2 })).toMatchObject({ kind: 'think', last: true })
    expect(next([], { most_steps: 3, model_calls: 3 })).toEqual(end('failed', 'max_steps') as never)
  })
})

test('a job that has worked too long ends, but not before a command that is ready', () => {
  const late = { active_ms: jobLimits.activeMs }
  expect(next([thought(1), head(2, {})], late)).toEqual(end('failed', 'deadline') as never)
  expect(next([], late)).toEqual(end('failed', 'deadline') as never)
  expect(next([thought(1), command(2)], late)).toMatchObject({ kind: 'execute' })
})

test('a direct call ends with its one step', () => {
  const action = { kind: 'action' } as const
  expect(next([command(1)], action)).toMatchObject({ kind: 'execute' })
  expect(next([command(1, { state: 'done' })], action)).toEqual(end('completed') as never)
  expect(next([command(1, { state: 'failed' })], action)).toEqual(
    end('failed', 'capability_failed') as never,
  )
  expect(next([command(1, { state: 'rejected' })], action)).toEqual(
    end('failed', 'rejected') as never,
  )
})

test('a job that is over stays what it is', () => {
  for (const [status, error] of [
    ['completed', null],
    ['failed', 'deadline'],
    ['cancelled', null],
  ] as const)
    expect(next([thought(1), command(2)], { status, error })).toEqual(end(status, error) as never)
})
