/** Direct calls of tools: who is asked, and how their jobs end. */
import { describe, expect, test } from 'bun:test'
import { newAction } from '#domain/agent/job/job'
import { nextOf } from '#domain/agent/job/loop'
import type { StepHead, ToolClass } from '#domain/agent/job/step'
import { directVerdict, type RuleDecision } from '#domain/agent/job/verdict'

const classes: ToolClass[] = ['read', 'draft', 'commit', 'safe', 'outside_read', 'outside_write']
const rules: (RuleDecision | undefined)[] = [undefined, 'allow', 'ask', 'deny']

describe('who is asked', () => {
  const all = classes.flatMap((of) =>
    rules.flatMap((rule) =>
      [true, false].flatMap((mayRun) =>
        [true, false].flatMap((isPerson) =>
          [true, false].map((readsOnly) => ({ class: of, rule, mayRun, isPerson, readsOnly })),
        ),
      ),
    ),
  )
  const decided = (facts: (typeof all)[number]) => directVerdict(facts).decision
  const those = (some: Partial<(typeof all)[number]>) =>
    all.filter((facts) =>
      Object.entries(some).every(([name, value]) => facts[name as keyof typeof facts] === value),
    )
  const isRead = (of: ToolClass) => of === 'read' || of === 'outside_read'

  test('a rule that forbids a tool holds for everybody', () => {
    for (const facts of those({ rule: 'deny' }))
      expect([facts, decided(facts)]).toEqual([facts, 'deny'])
  })

  test('whoever may not run a tool never runs it unasked', () => {
    for (const facts of those({ mayRun: false }))
      expect([facts, decided(facts)]).not.toEqual([facts, 'allow'])
  })

  test('whoever only reads changes nothing, asked or not', () => {
    for (const facts of those({ readsOnly: true }).filter((one) => !isRead(one.class)))
      expect([facts, decided(facts)]).toEqual([facts, 'deny'])
  })

  test('a person who may is not asked', () => {
    for (const facts of those({ isPerson: true, mayRun: true, readsOnly: false }).filter(
      ({ rule }) => rule !== 'deny',
    ))
      expect([facts, decided(facts)]).toEqual([facts, 'allow'])
  })

  test('a key that may is asked by a rule, and for what leaves the workspace', () => {
    for (const facts of those({ isPerson: false, mayRun: true, readsOnly: false }).filter(
      ({ rule }) => rule !== 'deny',
    )) {
      const isAsked =
        facts.class === 'outside_write'
          ? facts.rule !== 'allow'
          : facts.rule === 'ask' && facts.class !== 'read' && facts.class !== 'safe'
      expect([facts, decided(facts)]).toEqual([facts, isAsked ? 'ask' : 'allow'])
    }
  })
})

test('an address that is not on the list is asked of a person too', () => {
  const facts = {
    class: 'outside_read',
    rule: undefined,
    mayRun: true,
    isPerson: true,
    readsOnly: false,
  } as const
  expect(directVerdict({ ...facts, asks: ['not on the list: example.org'] }).decision).toBe('ask')
})

describe('its job', () => {
  const now = new Date('2026-11-22T09:00:00Z')
  const on_behalf = { kind: 'key', id: 'k', personId: null } as const
  const job = newAction('j', { goal: 'Remember', tool: 'remember', on_behalf, model: 'desk', now })
  const next = (state: StepHead['state']) => {
    const head: StepHead = {
      id: 's',
      number: 1,
      kind: 'tool',
      name: 'remember',
      state,
      class: 'draft',
      way: 'command',
      args_hash: null,
      result_hash: null,
      awaits_kind: null,
      awaits: null,
      of_step: null,
      attempt: 0,
      not_before: null,
      started_at: now,
      expires_at: state === 'asked' ? new Date(now.getTime() + 1) : null,
    }
    return nextOf(job, [head], { mostSteps: 40, treeCalls: 0 }, now)
  }

  test.each([
    ['done', { status: 'completed', error: null }],
    ['failed', { status: 'failed', error: 'capability_failed' }],
    ['rejected', { status: 'failed', error: 'rejected' }],
    ['unknown', { status: 'failed', error: 'unknown' }],
    ['cancelled', { status: 'failed', error: 'cancelled' }],
  ] as const)('ends when its step is %s, and no model is asked', (state, end) => {
    expect(next(state)).toEqual({ kind: 'end', end })
  })

  test('goes on while its step does', () => {
    expect([next('ready').kind, next('asked').kind, next('waiting').kind]).toEqual([
      'execute',
      'park',
      'look',
    ])
  })
})
