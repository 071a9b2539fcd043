import { expect, test } from 'bun:test'
import { newTurn } from '#domain/agent/job/job'
import { anew, newStep } from '#domain/agent/job/step'
import { traceOf } from '#domain/agent/job/trace'

const at = (s: number) => new Date(Date.UTC(2026, 10, 22, 12, 0, s))
const job = newTurn('01a20526-b1ed-7158-b844-020142700610', {
  conversation_id: null,
  message_id: null,
  on_behalf: { kind: 'key', id: 'k', personId: null },
  tools: null,
  tier: 'fast',
  asked_model: null,
  model: 'm',
  taint: [],
  content: 'hi',
  now: at(0),
})
const begun = newStep(
  {
    id: 's',
    job_id: job.id,
    number: 1,
    kind: 'model',
    name: 'm',
    state: 'running',
    started_at: at(1),
  },
  at(1),
)

test('a step that is tried again shows each try, and those before do not change', () => {
  const failed = { ...anew(begun, 'rate_limited', at(2)), not_before: at(4) }
  const again = { ...failed, state: 'running' as const, started_at: at(4) }
  const died = anew(again, 'enqueue_failed', at(5))
  const done = {
    ...died,
    state: 'done' as const,
    started_at: at(6),
    ended_at: at(9),
    input_tokens: 7,
  }
  const spansOf = (step: typeof begun) =>
    traceOf(job, [{ ...step, shown: null, shown_cut: false }], []).slice(1)
  const [first, second, third] = spansOf(done)
  expect(first).toMatchObject({
    name: 'chat m',
    startTime: at(1),
    endTime: at(2),
    durationMs: 1_000,
    status: 'error',
  })
  expect(first!.attributes).toMatchObject({ 'error.type': 'rate_limited', 'tendril.attempt': 0 })
  expect(second).toMatchObject({ startTime: at(4), endTime: at(5), status: 'error' })
  expect(second!.attributes).toMatchObject({ 'error.type': 'enqueue_failed', 'tendril.attempt': 1 })
  expect(third).toMatchObject({ startTime: at(6), endTime: at(9), status: 'ok' })
  expect(third!.attributes).toMatchObject({ 'tendril.attempt': 2, 'gen_ai.usage.input_tokens': 7 })
  expect([first, second].map((span) => 'gen_ai.usage.input_tokens' in span!.attributes)).toEqual([
    false,
    false,
  ])
  expect(new Set([first, second, third].map((span) => span!.spanId)).size).toBe(3)
  expect(spansOf(begun)[0]!.spanId).toBe(first!.spanId)
  expect(spansOf(again)).toMatchObject([first!, { spanId: second!.spanId, endTime: null }])
})

test('a claim that failed is a try without a length, and leaves a step that waits as it is', () => {
  const { state, attempt, tries } = anew({ ...begun, state: 'waiting' }, 'tool_failed', at(3))
  expect([state, attempt]).toEqual(['waiting', 1])
  expect(tries).toEqual([
    { started_at: at(3).toISOString(), ended_at: at(3).toISOString(), error: 'tool_failed' },
  ])
})
