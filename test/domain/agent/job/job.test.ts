/** Jobs, steps and their bounds, as records. */
import { describe, expect, test } from 'bun:test'
import { jobStatuses } from '#contract/records/agent/job'
import { stepStates } from '#contract/records/agent/step'
import { concludeJob, isOver, type NewTurn, newTurn } from '#domain/agent/job/job'
import { jobLimits, nextPoll } from '#domain/agent/job/limits'
import { isFinished, keptResult, newStep } from '#domain/agent/job/step'
import { at } from '#test/domain/records'

const turn: NewTurn = {
  conversation_id: 'c',
  message_id: 'm',
  on_behalf: { kind: 'key', id: 'k', personId: null },
  tools: ['growth_overview'],
  tier: 'fast',
  asked_model: 'fast',
  model: 'm',
  taint: ['conversation'],
  content: 'go',
  now: at(),
}

describe('a job', () => {
  test('of a turn is queued, manual, its own root, and has used nothing', () => {
    expect(newTurn('j', turn)).toMatchObject({
      id: 'j',
      root_id: 'j',
      kind: 'turn',
      status: 'queued',
      origin: 'manual',
      depth: 0,
      parent_id: null,
      taint: ['conversation'],
      model_calls: 0,
      tool_calls: 0,
      cost: 0,
      next_step: 1,
      next_event: 1,
      started_at: null,
      ended_at: null,
      created_at: at(),
    })
  })

  test('shows 500 characters of its message, none of them cut in half', () => {
    const { goal } = newTurn('j', { ...turn, content: `${'x'.repeat(499)}🎉 and more` })
    expect([[...goal].length, goal.at(-2)! + goal.at(-1)!, goal.isWellFormed()]).toEqual([
      500,
      '🎉',
      true,
    ])
  })

  test('is over in three states, and ends once', () => {
    expect(jobStatuses.filter((status) => isOver({ status }))).toEqual([
      'completed',
      'failed',
      'cancelled',
    ])
    const over = concludeJob(newTurn('j', turn), { status: 'failed', error: 'deadline' }, at(5))
    expect(over).toMatchObject({
      status: 'failed',
      error: 'deadline',
      ended_at: at(5),
      updated_at: at(5),
    })
    expect(() => concludeJob(over, { status: 'completed', error: null }, at(6))).toThrow(
      'the job is already failed',
    )
  })
})

describe('a step', () => {
  const step = newStep(
    { id: 's', job_id: 'j', number: 1, kind: 'tool', name: 't', state: 'ready', class: 'draft' },
    at(),
  )

  test('begins without result, costs or tries', () => {
    expect(step).toMatchObject({
      class: 'draft',
      result: null,
      answer: null,
      reserved_tokens: 0,
      attempt: 0,
      created_at: at(),
      updated_at: at(),
    })
  })

  test('is finished in all states but those in which something can still happen', () => {
    expect(stepStates.filter((state) => !isFinished({ state }))).toEqual([
      'ready',
      'asked',
      'running',
      'waiting',
    ])
  })

  test('keeps the beginning of a long answer, and says so', () => {
    expect(keptResult('short')).toEqual({ result: { text: 'short' }, result_cut: false })
    const { result, result_cut } = keptResult('x'.repeat(60_000))
    expect([result!.text.length, result_cut]).toEqual([48_000, true])
  })
})

describe('between two looks at a record', () => {
  const pauseAfter = (waitedMs: number) =>
    nextPoll(at(), at(waitedMs)).getTime() - at(waitedMs).getTime()

  test('the pause is half of the time waited, from 0.3 to 30 seconds', () => {
    expect([0, 600, 2_000, 10_000, 60_000, 3_600_000].map(pauseAfter)).toEqual([
      300, 300, 1_000, 5_000, 30_000, 30_000,
    ])
  })

  test('it stays bounded when the clock has gone back', () => {
    expect(pauseAfter(-1_000)).toBe(500)
    expect(pauseAfter(-3_600_000)).toBe(30_000)
  })
})

test('a letter reads all steps of the longest job', () => {
  const mostSteps = jobLimits.modelCalls * (1 + jobLimits.calls)
  expect(mostSteps).toBeLessThan(2_000)
})
