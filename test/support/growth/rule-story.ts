/** A workspace with rules, as tests see it over HTTP. */
import { expect } from 'bun:test'
import type { ruleRuns, rules } from '#contract/growth/rules'
import type { OutputOf } from '#contract/op'
import { eventually, type Reply, type TestApp } from '../app.ts'
import { newStory, type Story } from './story.ts'

type ShownRule = OutputOf<typeof rules.create>['rule']
type ShownRun = OutputOf<typeof ruleRuns.list>['rule_runs'][number]

export interface Rules {
  story: Story
  create(input: object): Promise<ShownRule>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  update(id: string, patch: object): Promise<Reply<any>>
  list(): Promise<ShownRule[]>
  rule(id: string): Promise<ShownRule>
  /** The runs, newest first. */
  runs(ruleId?: string): Promise<ShownRun[]>
  /** The runs of a rule, once there are `count` and all have ended. */
  settled(ruleId: string, count: number): Promise<ShownRun[]>
  /** The only run of a rule, once it has ended. */
  ended(ruleId: string): Promise<ShownRun>
  /** Calls `happen` and gives the reason for which the rule's only run was skipped. */
  afterwards(ruleId: string, happen: () => Promise<unknown>): Promise<string | null>
}

export const rulesOf = (story: Story): Rules => {
  const rules: Rules = {
    story,
    async create(input) {
      const { status, body } = await story.send('POST', 'rules', {
        body: { name: 'Keep drafting', ...input },
      })
      expect({ status, error: body.error }).toEqual({ status: 201, error: undefined })
      return body.rule
    },
    update: (id, patch) => story.send('PUT', `rules/${id}`, { body: patch }),
    list: async () => (await story.send('GET', 'rules?limit=100')).body.rules,
    rule: async (id) => (await rules.list()).find((one) => one.id === id)!,
    runs: async (ruleId) =>
      (await story.send('GET', `rule-runs?limit=100${ruleId ? `&rule_id=${ruleId}` : ''}`)).body
        .rule_runs,
    async settled(ruleId, count) {
      const runs = await eventually(
        () => rules.runs(ruleId),
        (found) => found.length >= count && found.every(({ ended_at }) => ended_at !== null),
      )
      expect(runs.map(({ status }) => status)).toHaveLength(count)
      return runs
    },
    ended: async (ruleId) => (await rules.settled(ruleId, 1))[0]!,
    async afterwards(ruleId, happen) {
      await happen()
      const { status, reason } = await rules.ended(ruleId)
      expect(status).toBe('skipped')
      return reason
    },
  }
  return rules
}

export const newRules = async (app: TestApp): Promise<Rules> => rulesOf(await newStory(app))
