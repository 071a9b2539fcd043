import { describe, expect, test } from 'bun:test'
import { newChild, requireRoomForChild } from '#domain/agent/job/delegation'
import { type Job, newTurn } from '#domain/agent/job/job'
import { newStep, type Step } from '#domain/agent/job/step'
import { stepOf } from '#domain/agent/job/transition'
import { at, MINUTE } from '#test/domain/records'

const root: Job = {
  ...newTurn('r', {
    conversation_id: 'c',
    message_id: 'm',
    on_behalf: { kind: 'key', id: 'k', personId: null },
    tools: null,
    tier: 'reasoning',
    asked_model: null,
    model: 'm',
    taint: ['signal'],
    content: 'go',
    now: at(),
  }),
  status: 'waiting_child',
  scheduled: true,
  origin: 'automatic',
}
const step: Step = newStep(
  { id: 's', job_id: 'r', number: 2, kind: 'tool', name: 'delegate', state: 'waiting' },
  at(),
)

const child = (parent: Job, tools: string[]): Job =>
  newChild('x', parent, { stepId: 's', goal: 'g'.repeat(4_000), tools, mostSteps: 3, now: at() })

test('acts for the same caller within the same bounds, and answers its parent alone', () => {
  const one = child(root, ['a'])
  expect(one).toMatchObject({
    kind: 'delegate',
    status: 'queued',
    parent_id: 'r',
    parent_step_id: 's',
    root_id: 'r',
    depth: 1,
    most_steps: 3,
    model: 'm',
    on_behalf: root.on_behalf,
    taint: ['signal'],
    scheduled: true,
    origin: 'automatic',
    conversation_id: null,
    message_id: null,
  })
  expect(one.goal).toHaveLength(4_000)
})

test.each([
  ['all that are asked for, once', null, 0, ['a', 'b', 'a', 'delegate'], ['a', 'b', 'delegate']],
  ['none that its parent lacks', ['b', 'delegate'], 1, ['a', 'b', 'delegate'], ['b', 'delegate']],
  ['no children at the third depth', ['b', 'delegate'], 2, ['b', 'delegate'], ['b']],
  ['none', [], 0, ['a'], []],
])('%s', (_, tools, depth, asked, given) => {
  expect(child({ ...root, tools, depth }, asked).tools).toEqual(given)
})

test('there are eight of a root', () => {
  expect(() => requireRoomForChild(7)).not.toThrow()
  expect(() => requireRoomForChild(8)).toThrow('8 sub-agents were used already')
})

describe('its end', () => {
  const heard = (changes: Partial<Job>) => {
    const answer = { kind: 'child', step, child: { ...child(root, []), ...changes } } as const
    const { job, steps } = stepOf(root, answer, { now: at(MINUTE), newId: () => '' })
    return { job, step: steps[0]! }
  }

  test.each([
    ['completed', null, { state: 'done', result: { text: 'It is so.' }, error: null }],
    ['failed', 'deadline', { state: 'failed', result: { text: 'the sub-agent failed: deadline' } }],
    ['cancelled', null, { state: 'failed', result: { text: 'the sub-agent was cancelled' } }],
  ] as const)('as %s is a result', (status, error, result) => {
    const after = heard({ status, error, output: { text: 'It is so.' } })
    expect(after.step).toMatchObject({ ...result, result_cut: false, ended_at: at(MINUTE) })
    expect(after.job).toMatchObject({ status: 'running', tool_calls: 1 })
  })

  test('brings what it has read, and an answer of at most 8,000 characters', () => {
    const after = heard({
      status: 'completed',
      output: { text: 'x'.repeat(8_001) },
      taint: ['signal', 'page'],
    })
    expect([after.job.taint, after.step.untrusted, after.step.result_cut]).toEqual([
      ['signal', 'page'],
      'signal, page',
      true,
    ])
    expect(after.step.result!.text).toHaveLength(8_000)
    expect(heard({ status: 'completed', taint: [] }).step).toMatchObject({
      untrusted: null,
      result: { text: '' },
    })
  })
})
