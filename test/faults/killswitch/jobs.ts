/**
 * Jobs of every origin for the kill switch: what people ask, what schedules and webhook rules
 * begin, and what any of them delegates.
 */
import { OUTSIDE } from '#test/support/agent/outside-tool'
import { type Plan, planText } from '#test/support/agent/plan'
import { type MadeRule, post } from '#test/support/agent/webhook-rules'
import type { TestApp } from '#test/support/app'
import { insertItem } from '#test/support/database/writes'

/** A workspace, with a key and a person who decides what is asked. */
export interface Asker {
  tenantId: string
  key: string
  token: string
}

/**
 * Each round of a workspace begins so many jobs: a turn, a run of a schedule, a job of a webhook
 * rule, and what one of them delegates.
 */
export const JOBS_A_ROUND = 4

/**
 * Times of schedules come in this round or the next, at any point of a pause. A busy machine must
 * not let one pass before it is asked for.
 */
const SOON_MS = 2_000

/** The text that a job sends outside is its own, and says who began the job. */
const outside = (
  origin: 'manual' | 'automatic',
  { tenantId }: Asker,
  name: string,
): Plan[number] => [[OUTSIDE, { text: `${origin} ${tenantId} ${name}` }]]

const delegating = (goal: Plan): Plan => [
  [['delegate', { goal: planText(goal), tools: [OUTSIDE] }]],
]

/** In odd rounds it delegates; else it sends twice, or asks a person first. */
const turnPlan = (asker: Asker, nth: number, item: string): Plan => {
  const send = (name: string) => outside('manual', asker, `${nth} ${name}`)
  if (nth % 2 === 1) return delegating([send('child')])
  if (nth % 4 === 2) return [[['growth_approve_item', { id: item }]], send('turn')]
  return [[['growth_list_learnings', {}], ...send('turn')], send('turn again')]
}

/** In even rounds it delegates; else it reads, sends and writes. */
const schedulePlan = (asker: Asker, nth: number): Plan => {
  const send = (name: string) => outside('automatic', asker, `${nth} ${name}`)
  if (nth % 2 === 0) return delegating([send('child')])
  const note: Plan[number] = [['growth_add_learning', { kind: 'worked', note: `note ${nth}` }]]
  const reads: Plan[number] = ['get_current_time', 'growth_list_learnings'].map((name) => [
    name,
    {},
  ])
  return [reads, send('run'), note, [['growth_retire_learning', { id: 'learning:1' }]]]
}

/** Its job is tainted from the start, so that a person must allow what it sends. */
const rulePlan = (asker: Asker, nth: number): Plan => [
  [['growth_list_learnings', {}]],
  outside('automatic', asker, `${nth} post`),
  [['growth_list_learnings', {}]],
]

const asked = async (app: TestApp, { key }: Asker, path: string, body: object) => {
  const reply = await app.send('POST', `/api/v1/${path}`, { key, body })
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`)
  return reply.body
}

/** Begins the jobs of the nth round. */
export const beginJobs = async (app: TestApp, asker: Asker, nth: number): Promise<void> => {
  const item = await insertItem(app, asker.tenantId)
  const rule = { name: `Rule ${nth}`, goal: planText(rulePlan(asker, nth)) }
  const at = new Date(Date.now() + SOON_MS)
  const [made] = await Promise.all([
    asked(app, asker, 'actions/create_webhook_rule', rule),
    asked(app, asker, 'actions/schedule_task', { goal: planText(schedulePlan(asker, nth)), at }),
    asked(app, asker, 'agent/messages', { content: planText(turnPlan(asker, nth, item)) }),
  ])
  const { status } = await post(app.url, made.result as MadeRule)
  if (status !== 200) throw new Error(`a post to a webhook rule: ${status}`)
}
