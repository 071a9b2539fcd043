/**
 * Runs of rules: the run of each occurrence, and that rules which trigger one another come to rest.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Generation, generationStatuses } from '#domain/growth/drafting/generation'
import { newRule, type Rule } from '#domain/growth/rules/rule'
import {
  type Caused,
  DEEPEST_CHAIN,
  isCapped,
  overCap,
  type RuleRun,
  recordAction,
  runEnd,
  runsFor,
  runView,
  skipRun,
} from '#domain/growth/rules/rule-run'
import { at, DAY } from '#test/domain/records'

const ruleOf = (id: string, changes: Partial<Rule> = {}): Rule => {
  const wish = {
    name: id,
    trigger: { kind: 'batch_settled' },
    action: { kind: 'draft_batch' },
  } as const
  return { ...newRule(id, wish, { total: 0, timeZone: 'UTC', now: at() }), ...changes }
}
let made = 0
const newId = () => `id-${made++}`
const caused = (ref: string, chain: string[] = []): Caused => ({
  occurrence: { kind: 'batch_settled', ref, status: 'ready' },
  chain,
})
const happening = { now: at(), paused: false, newId }

const outcome = ({ status, reason }: RuleRun) => reason ?? status

describe('an occurrence', () => {
  const full = { used: 5, daily_cap: 5 }
  const cells: [
    what: string,
    rule: Partial<Rule>,
    chain: string[],
    paused: boolean,
    expected: string[],
  ][] = [
    ['is queued', {}, [], false, ['queued']],
    ['of another rule is queued', {}, ['b'], false, ['queued']],
    ['of two other rules is queued', {}, ['b', 'c'], false, ['queued']],
    ['of three other rules is a loop', {}, ['b', 'c', 'd'], false, ['loop']],
    ['of its own is a loop', {}, ['a'], false, ['loop']],
    ['of its own through another is a loop', {}, ['a', 'b'], false, ['loop']],
    ['above the cap is told', full, [], false, ['daily_cap']],
    ['above the cap is told once', { ...full, over: 1 }, [], false, []],
    [
      'above the cap of yesterday is queued',
      { ...full, over: 9, day: '2026-11-20' },
      [],
      false,
      ['queued'],
    ],
    ['while all is paused is told', {}, [], true, ['paused']],
    ['while all is paused is told, whatever the cap', { ...full, over: 1 }, [], true, ['paused']],
  ]
  test.each(cells)('%s', (_, changes, chain, paused, expected) => {
    const { runs } = runsFor(ruleOf('a', changes), [caused('batch-1', chain)], {
      ...happening,
      paused,
    })
    expect(runs.map(outcome)).toEqual(expected)
    for (const run of runs) {
      expect(run).toMatchObject({
        rule_id: 'a',
        trigger: 'batch_settled',
        occurrence: 'batch-1',
        chain,
        made_id: null,
      })
      expect(run.ended_at).toEqual(run.status === 'queued' ? null : at())
    }
  })

  test('above the cap is counted each time', () => {
    const { rule, runs } = runsFor(
      ruleOf('a', full),
      ['1', '2', '3'].map((ref) => caused(ref)),
      happening,
    )
    expect([rule.over, runs.map(outcome)]).toEqual([3, ['daily_cap']])
    expect(overCap({ ...rule, day: '2026-11-20' }, at())).toMatchObject({
      isFirst: true,
      rule: { over: 1, used: 0 },
    })
  })
})

const [queued] = runsFor(ruleOf('a'), [caused('batch-1')], happening).runs as [RuleRun]

describe('a run', () => {
  const taken = { key: 'posts', period: '2026-11', amount: 3 }

  test('waits for its generation, and counts towards the cap of the day', () => {
    const { run, rule } = recordAction(
      queued,
      ruleOf('a', { used: 2 }),
      { kind: 'batch', id: 'batch-2', inFlight: true, taken },
      at(1),
    )
    expect(run).toMatchObject({
      status: 'running',
      made_kind: 'batch',
      made_id: 'batch-2',
      quota: 'posts',
      units: 3,
      ended_at: null,
    })
    expect(rule).toMatchObject({ used: 3, last_run_at: at(1) })
  })

  test('is done once it has made its draft', () => {
    const { run } = recordAction(
      queued,
      ruleOf('a'),
      { kind: 'item', id: 'item-2', inFlight: false },
      at(1),
    )
    expect(run).toMatchObject({
      status: 'done',
      made_id: 'item-2',
      quota: null,
      units: 0,
      ended_at: at(1),
    })
  })

  test('resets the counts of the day on a new day', () => {
    const { rule } = recordAction(
      queued,
      ruleOf('a', { used: 5, over: 4 }),
      { kind: 'item', id: 'item-2', inFlight: false },
      at(DAY),
    )
    expect(rule).toMatchObject({ day: '2026-11-22', used: 1, over: 0 })
  })

  test('shows what it made, or null', () => {
    expect(runView(skipRun(queued, 'conditions', at(2)))).toMatchObject({
      status: 'skipped',
      reason: 'conditions',
      made: null,
      updated_at: at(2),
    })
    const { run } = recordAction(
      queued,
      ruleOf('a'),
      { kind: 'batch', id: 'batch-2', inFlight: true, taken },
      at(1),
    )
    expect(runView(run)).toMatchObject({
      made: { kind: 'batch', id: 'batch-2' },
      cost: { quota: 'posts', units: 3, cost_micros: null },
    })
  })
})

describe('the end of its generation', () => {
  const record = (changes: Partial<Generation>): Generation => ({
    id: 'batch-2',
    status: 'failed',
    error: null,
    model: null,
    usage: null,
    created_at: at(),
    updated_at: at(5),
    ...changes,
  })
  const usage = { input_tokens: 1, output_tokens: 1, cost_micros: 42 }
  const back = (amount: number) => [{ key: 'posts', period: '2026-11', amount: -amount }]

  test.each([
    [
      { status: 'ready', usage },
      back(1),
      { status: 'done', reason: null, returned: 1, cost_micros: 42 },
    ],
    [
      { error: 'generation_failed: x' },
      back(3),
      { status: 'failed', reason: 'generation_failed: x', returned: 3, cost_micros: null },
    ],
    [
      { error: 'enqueue_failed' },
      back(3),
      { status: 'failed', reason: 'enqueue_failed', returned: 3, cost_micros: null },
    ],
    [
      { error: 'cancelled' },
      back(3),
      { status: 'cancelled', reason: 'cancelled', returned: 3, cost_micros: null },
    ],
  ] as const)('%j', (changes, refund, expected) => {
    expect(runEnd(record(changes), refund)).toEqual({ ...expected, ended_at: at(5) })
  })

  test('is defined for every final state', () => {
    for (const status of generationStatuses.filter((one) => one === 'ready' || one === 'failed'))
      expect(runEnd(record({ status }), []).status).toBe(status === 'ready' ? 'done' : 'failed')
  })
})

describe('in any history', () => {
  test('a rule acts at most as often a day as its cap allows, and every occurrence is a run or is counted', () => {
    const days = fc.array(
      fc.record({ day: fc.integer({ min: 0, max: 3 }), burst: fc.integer({ min: 1, max: 5 }) }),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(days, fc.integer({ min: 1, max: 6 }), (events, cap) => {
        const byTime = events.toSorted((a, b) => a.day - b.day)
        let rule = ruleOf('a', { daily_cap: cap })
        const actedOn = new Map<number, number>()
        for (const { day, burst } of byTime) {
          const now = at(day * DAY)
          const before = rule.day === now.toISOString().slice(0, 10) ? rule.over : 0
          const refs = Array.from({ length: burst }, (_, index) => caused(`${day}-${index}`))
          const { rule: counted, runs } = runsFor(rule, refs, { now, paused: false, newId })
          rule = counted
          let told = runs.filter(({ status }) => status === 'skipped').length
          for (const run of runs.filter(({ status }) => status === 'queued')) {
            if (isCapped(rule, now)) {
              const over = overCap(rule, now)
              rule = over.rule
              told += over.isFirst ? 1 : 0
              continue
            }
            rule = recordAction(run, rule, { kind: 'item', id: 'item', inFlight: false }, now).rule
            actedOn.set(day, (actedOn.get(day) ?? 0) + 1)
          }
          expect(told).toBeLessThanOrEqual(before === 0 ? 1 : 0)
          expect(rule.used).toBeLessThanOrEqual(cap)
        }
        for (const count of actedOn.values()) expect(count).toBeLessThanOrEqual(cap)
      }),
    )
  })

  /**
   * Rules that each draft a batch whenever any batch settles: the most that rules can trigger one
   * another.
   */
  test('rules that trigger one another come to rest after a bounded chain that has no rule twice', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), (count) => {
        let rules = Array.from({ length: count }, (_, index) =>
          ruleOf(`rule-${index}`, { daily_cap: 50 }),
        )
        const waiting = [caused('from a person')]
        let settled = 0
        for (let next = waiting.shift(); next; next = waiting.shift()) {
          expect(++settled).toBeLessThan(1_000)
          rules = rules.map((rule) => {
            const { rule: counted, runs } = runsFor(rule, [next], happening)
            let after = counted
            for (const run of runs.filter(({ status }) => status === 'queued')) {
              if (isCapped(after, at())) continue
              after = recordAction(
                run,
                after,
                { kind: 'batch', id: newId(), inFlight: false },
                at(),
              ).rule
              const chain = [...run.chain, rule.id]
              expect(new Set(chain).size).toBe(chain.length)
              expect(chain.length).toBeLessThanOrEqual(DEEPEST_CHAIN)
              waiting.push(caused(newId(), chain))
            }
            return after
          })
        }
      }),
    )
  })
})
