import { describe, expect, test } from 'bun:test'
import type { PlanState } from '#contract/limits'
import { nearedBy } from '#domain/agent/job/budget'
import { agentBudgetsOf, nearLimits, nearWords } from '#domain/app/nearing'

const now = new Date('2026-11-21T12:00:00Z')
const plan: PlanState = {
  plan: 'team',
  billing: 'ok',
  overrides: { agent_tokens_day: 1_000, agent_tokens_month: -1, agent_cost_month: 20_000 },
}
const usage = (day: number, cost = 0) => ({
  plan,
  now,
  counters: {
    'agent_tokens_day@2026-11-21': day,
    'agent_tokens_month@2026-11': 10 ** 9,
    'agent_cost_month@2026-11': cost,
  },
})
const near = (day: number, cost = 0) =>
  nearLimits(agentBudgetsOf(usage(day, cost))).map(({ key, level }) => [key, level])

describe('a budget is near its end', () => {
  test('from four fifths on, and used up at its limit; one without a limit never is', () => {
    expect([near(799), near(800), near(999), near(1_000)]).toEqual([
      [],
      [['agent_tokens_day', 80]],
      [['agent_tokens_day', 80]],
      [['agent_tokens_day', 100]],
    ])
    expect(near(0, 16_000)).toEqual([['agent_cost_month', 80]])
  })

  test('in words: how much, when it starts again, and who can raise it', () => {
    const [tokens, , cost] = agentBudgetsOf(usage(850, 20_000))
    expect(nearWords(tokens!)).toBe(
      "85 % of the agent's tokens of today is used: 850 of 1,000. A new count starts on 2026-11-22 at 00:00 UTC; whoever runs this deployment can raise the limit (agent_tokens_day).",
    )
    expect(nearWords(cost!)).toStartWith(
      "All of the agent's money of this month is used: 2.00 USD of 2.00 USD. A new count starts on 2026-12-01",
    )
  })

  test('is said by the job that brings it there, and by no later one', () => {
    const job = (tokens: number) => ({
      input_tokens: tokens,
      output_tokens: 0,
      reserved_tokens: 0,
      cost: 0,
      reserved_cost: 0,
    })
    const said = (own: number, day: number) =>
      nearedBy(job(own), usage(day)).map(({ level }) => level)
    expect([
      said(10, 805),
      said(10, 900),
      said(300, 1_000),
      said(10, 1_005),
      said(10, 700),
    ]).toEqual([[80], [], [100], [100], []])
  })
})
