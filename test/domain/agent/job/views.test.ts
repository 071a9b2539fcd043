/** Spans and records as callers see them. */
import { describe, expect, test } from 'bun:test'
import type { Approval } from '#domain/agent/job/approval'
import { type Job, newTurn } from '#domain/agent/job/job'
import { newStep, type Step } from '#domain/agent/job/step'
import { traceOf } from '#domain/agent/job/trace'
import { approvalView, jobView, type ShownStep, stepView } from '#domain/agent/job/views'
import { at } from '#test/domain/records'

const ROOT = '018f47a0-0000-7000-8000-000000000001'
const job: Job = {
  ...newTurn(ROOT, {
    conversation_id: 'c',
    message_id: 'm',
    on_behalf: { kind: 'key', id: 'k', personId: null },
    tools: null,
    tier: 'reasoning',
    asked_model: null,
    model: 'gpt-5',
    taint: [],
    content: 'go',
    now: at(),
  }),
  status: 'completed',
  cost: 104,
  ended_at: at(9_000),
}
const step = (number: number, changes: Partial<Step>): ShownStep => {
  const base = newStep(
    {
      id: `s${number}`,
      job_id: ROOT,
      number,
      kind: 'tool',
      name: 'growth_post_item',
      state: 'done',
    },
    at(),
  )
  const {
    result: _,
    answer: __,
    ...rest
  } = { ...base, started_at: at(number * 1_000), ended_at: at(number * 1_000 + 500), ...changes }
  return { ...rest, shown: 'the result', shown_cut: false }
}
const approval = {
  id: 'a',
  step_id: 's2',
  job_id: ROOT,
  goal: 'go',
  tool_name: 'growth_post_item',
  summary: 'Post it',
  arguments: {},
  arguments_hash: 'h',
  subject: { records: [], account: 'me', text: null, sha256: null },
  why: [],
  status: 'approved',
  decided_by: 'p',
  decided_how: 'person',
  reason: null,
  edited: false,
  expires_at: at(99_000),
  decided_at: at(2_400),
  created_at: at(2_000),
  updated_at: at(2_400),
  direct_by: null,
} as unknown as Approval

const thought = step(1, {
  kind: 'model',
  name: 'gpt-5',
  input_tokens: 200,
  output_tokens: 20,
  cost: 3,
})
const posted = step(2, {
  call: 'c1',
  why: ['publishes'],
  awaits_kind: 'publish',
  awaits: 'i1',
  args: { note: 'a secret of the workspace' },
})

describe('the trace of a job', () => {
  const spans = traceOf(job, [thought, posted], [approval])

  test('has a span for the job, for each step, and for each wait', () => {
    expect(
      spans.map(({ name, kind, status, durationMs }) => [name, kind, status, durationMs]),
    ).toEqual([
      ['invoke_agent tendril', 'internal', 'ok', 9_000],
      ['chat gpt-5', 'client', 'ok', 500],
      ['execute_tool growth_post_item', 'internal', 'ok', 500],
      ['wait approval', 'internal', 'unset', 400],
      ['wait publish', 'internal', 'unset', 500],
    ])
  })

  test('is one tree with ids of the usual lengths, and equal each time', () => {
    const [root, ...rest] = spans
    const ids = spans.map(({ spanId }) => spanId)
    expect(new Set(ids).size).toBe(5)
    expect(ids.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true)
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(
      new Set([ROOT.replaceAll('-', '')]),
    )
    expect(root!.parentSpanId).toBeNull()
    expect(rest.map(({ parentSpanId }) => ids.indexOf(parentSpanId!))).toEqual([0, 0, 2, 2])
    expect(traceOf(job, [thought, posted], [approval])).toEqual(spans)
  })

  test('says what failed, what is not over, and which provider was asked', () => {
    const failed = traceOf(
      { ...job, status: 'failed', error: 'deadline', model: 'desk' },
      [step(1, { state: 'unknown' })],
      [],
    )
    expect(failed[0]).toMatchObject({
      status: 'error',
      attributes: { 'error.type': 'deadline', 'gen_ai.provider.name': 'tendril' },
    })
    expect(failed[1]).toMatchObject({ status: 'error', attributes: { 'error.type': 'unknown' } })
    const [open, running] = traceOf(
      { ...job, status: 'running', ended_at: null },
      [step(1, { state: 'running', ended_at: null })],
      [],
    )
    expect([open!.endTime, open!.durationMs, running!.endTime, running!.status]).toEqual([
      null,
      null,
      null,
      'unset',
    ])
    expect(spans[0]!.attributes['gen_ai.provider.name']).toBe('openai')
  })

  test('holds neither arguments nor results, and no attribute that is not known', () => {
    const text = JSON.stringify(spans)
    expect(text).not.toContain('a secret of the workspace')
    expect(text).not.toContain('the result')
    expect(
      spans
        .flatMap(({ attributes }) => Object.values(attributes))
        .filter((value) => value === null || value === undefined),
    ).toEqual([])
  })
})

describe('a view', () => {
  test('of a job has its cost in cents', () => {
    expect(jobView(job)).toMatchObject({
      id: ROOT,
      costUsdCents: 1.04,
      toolNames: null,
      endedAt: at(9_000),
    })
  })

  test('of a step says whether its result is whole', () => {
    expect(stepView(posted)).toMatchObject({
      number: 2,
      result: 'the result',
      resultIsCut: false,
      arguments: posted.args,
    })
    expect(stepView({ ...posted, shown_cut: true }).resultIsCut).toBe(true)
    expect(stepView({ ...posted, result_cut: true }).resultIsCut).toBe(true)
  })

  const ada = { id: 'ada', name: 'Ada', role: 'owner' } as const
  const standing = {
    deciders: { roles: ['owner', 'approver'], people: [ada], more: false } as const,
    mayDecide: true,
  }

  test('of an approval names who can decide while it waits, and not afterwards', () => {
    const beside = { publicUrl: '', taint: null, ...standing }
    const shown = approvalView({ ...approval, status: 'pending' }, beside)
    const people = [{ kind: 'person', id: 'ada', name: 'Ada' }]
    expect(shown).toMatchObject({
      deciders: { roles: ['owner', 'approver'], people, more: false },
      may_decide: true,
    })
    expect(approvalView({ ...approval, status: 'approved' }, beside)).toMatchObject({
      deciders: null,
      may_decide: false,
    })
  })

  test('of an approval has its link, its account as sentences write it, and its job while that is kept', () => {
    const shown = approvalView(approval, {
      publicUrl: 'https://team.example',
      taint: ['signal'],
      ...standing,
    })
    expect(shown).toMatchObject({
      url: 'https://team.example/approvals/a',
      subject: { account: '@me' },
      job: { id: ROOT, taint: ['signal'] },
    })
    expect(Object.keys(shown)).not.toContain('arguments_hash')
    expect(approvalView(approval, { publicUrl: '', taint: null, ...standing }).job).toBeNull()
  })
})
