/**
 * A rule by which a signed webhook post starts a job. The post's body is untrusted: the job begins
 * tainted, and asks before it writes.
 */
import { webhookRuleRecord } from '#contract/records/agent/webhook-rule'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { fail } from '#kernel/errors'
import type { CallingJob, OnBehalf } from '../job/job.ts'
import { takenOver } from './goal.ts'

export type WebhookRule = RowOf<typeof webhookRuleRecord>

export const webhookRuleLimits = {
  rules: 20,
  /** Posts that a rule accepts within an hour. */
  posts: 60,
  withinMs: 3_600_000,
} as const
/** The largest body of a post. */
export const POST_BYTES = 65_536

export interface NewWebhookRule
  extends Pick<
    WebhookRule,
    'id' | 'goal' | 'name' | 'tools' | 'on_behalf' | 'taint' | 'reveal_to'
  > {
  /** Rules of the workspace. */
  total: number
  now: Date
}

/** Throws `conflict`. */
export const newWebhookRule = ({
  total,
  now,
  goal,
  name,
  ...rule
}: NewWebhookRule): WebhookRule => {
  if (total >= webhookRuleLimits.rules)
    fail('conflict', `cannot add: the workspace has ${total} webhook rules; delete one first`, {
      reason: 'limit_reached',
    })
  const empty = {
    goal_by: null,
    enabled: true,
    is_abandoned: false,
    last_at: null,
    received: 0,
    refused: 0,
  }
  return {
    ...rule,
    goal: goal.trim(),
    name: name.trim(),
    ...empty,
    created_at: now,
    updated_at: now,
  }
}

export interface WebhookRulePatch {
  name?: string | undefined
  goal?: string | undefined
  tools?: string[] | undefined
  enabled?: boolean | undefined
}

/**
 * Absent fields stay. A new goal, new tools, or enabling an abandoned rule makes it run in the name
 * of the editor; a new goal counts as the editor's words.
 */
export const updateWebhookRule = (
  before: WebhookRule,
  patch: WebhookRulePatch,
  editor: OnBehalf,
  now: Date,
): WebhookRule => {
  const { name = before.name, goal, tools = before.tools, enabled = before.enabled } = patch
  const isTaken =
    goal !== undefined ||
    patch.tools !== undefined ||
    (patch.enabled === true && before.is_abandoned)
  return {
    ...before,
    name: name.trim(),
    tools,
    enabled,
    updated_at: now,
    ...(goal === undefined ? {} : { goal: goal.trim(), taint: [] }),
    ...(isTaken ? { ...takenOver(before, editor, goal !== undefined), is_abandoned: false } : {}),
  }
}

interface Caller {
  kind: string
  id: string
  personId: string | null
}

/**
 * Whether the caller itself gets the answer, including the secret, with no model and no record in
 * between.
 */
export const isAnswered = (
  caller: Caller,
  job: Pick<CallingJob, 'kind' | 'onBehalf'> | undefined,
): boolean =>
  !job ||
  (job.kind === 'action' && job.onBehalf.kind === caller.kind && job.onBehalf.id === caller.id)

/**
 * Who may see the secret later: the person who asked for the rule and the person who approved it.
 */
export const revealTo = (
  caller: Caller,
  job: Pick<CallingJob, 'kind' | 'onBehalf'> | undefined,
): string[] => {
  if (isAnswered(caller, job)) return []
  return [...new Set([job!.onBehalf.personId, caller.personId].filter((id) => id !== null))]
}

/**
 * The secret is shown to this person now, and to nobody ever again. Throws `conflict` or
 * `forbidden`.
 */
export const revealSecret = (rule: WebhookRule, personId: string, now: Date): WebhookRule => {
  if (rule.reveal_to.length === 0)
    fail('conflict', 'the secret was shown already; rotate it for a new one', {
      reason: 'wrong_state',
    })
  if (!rule.reveal_to.includes(personId))
    fail('forbidden', 'only whoever asked for the rule or approved it is shown its secret')
  return { ...rule, reveal_to: [], updated_at: now }
}

export const pathOf = ({ id }: Pick<WebhookRule, 'id'>): string => `/webhooks/rules/${id}`

/** Why posts are refused; null if they are not. */
const disabledBy = ({ enabled, is_abandoned }: WebhookRule): 'person' | 'caller_gone' | null => {
  if (!enabled) return 'person'
  return is_abandoned ? 'caller_gone' : null
}

/** Whether posts begin jobs. */
export const takesPosts = (rule: WebhookRule): boolean => disabledBy(rule) === null

const view = viewOf(webhookRuleRecord)

/** As people see it, always without the secret. */
export const webhookRuleView = (rule: WebhookRule) => ({
  ...view(rule),
  enabled: takesPosts(rule),
  disabledBy: disabledBy(rule),
  path: pathOf(rule),
  secret: MASKED,
  secretIsUnseen: rule.reveal_to.length > 0,
})

const MASKED = 'whsec_…'

/** As the agent sees it. */
export const webhookRuleTaskView = (rule: WebhookRule) => {
  const { goal, taint, secretIsUnseen: _, updatedAt: __, ...shown } = webhookRuleView(rule)
  return {
    ...shown,
    ...(taint.length > 0 ? { goal: null, untrustedGoal: goal } : { goal, untrustedGoal: null }),
  }
}
