/** What rules do: they make drafts, which wait for approval like any others. */
import type { Static } from '@sinclair/typebox'
import type { Action } from '#contract/records/growth/rule'
import { refuseField } from '#kernel/errors'
import type { ArticleLength } from '../drafting/article.ts'
import { MOST_POINTS, pointsOf } from '../drafting/article-text.ts'
import type { EngageAction } from '../drafting/engagement.ts'
import { AUDIT_DAYS } from '../learning/growth-audit.ts'
import { requireShape, type Trigger } from './rule-trigger.ts'

/** An action as requested. */
export type ActionInput = Static<typeof Action>
export type RuleActionKind = ActionInput['kind']

export type RuleAction =
  | { kind: 'draft_batch'; count: number; focus: string }
  | { kind: 'draft_article'; topic: string; length: ArticleLength; outline?: string }
  /** Answers the signal. */
  | { kind: 'draft_engagement'; action: EngageAction }
  /** Audits the posts of the last `days` days. */
  | { kind: 'request_audit'; days: number }
  /** Reports on the current week. */
  | { kind: 'request_report' }
  /**
   * Drafts the text of an old post again that did well enough. `min_engagement` is in reactions per
   * impression; `min_reactions` applies to posts whose network counts no impressions. With the
   * first alone, nobody can tell whether such a post did well enough.
   */
  | {
      kind: 'resurface'
      min_age_days: number
      min_engagement: number
      min_reactions?: number
    }

const DEFAULTS = { count: 3, minAgeDays: 90 }

interface Kind {
  needs: (keyof ActionInput)[]
  takes: (keyof ActionInput)[]
  /** Triggers that the action needs; any trigger if absent. */
  under?: Trigger['kind'][]
  fill(input: ActionInput): RuleAction
}

const outlineOf = ({ outline = '' }: ActionInput): { outline?: string } => {
  const points = pointsOf(outline).length
  if (points > MOST_POINTS)
    refuseField('action.outline', `has ${points} points; the maximum is ${MOST_POINTS}`)
  return outline.trim() ? { outline: outline.trim() } : {}
}

const kinds: Record<RuleActionKind, Kind> = {
  draft_batch: {
    needs: [],
    takes: ['count', 'focus'],
    fill: ({ count = DEFAULTS.count, focus = '' }) => ({ kind: 'draft_batch', count, focus }),
  },
  draft_article: {
    needs: ['topic'],
    takes: ['topic', 'length', 'outline'],
    fill: (input) => ({
      kind: 'draft_article',
      topic: input.topic!.trim(),
      length: input.length ?? 'medium',
      ...outlineOf(input),
    }),
  },
  draft_engagement: {
    needs: ['action'],
    takes: ['action'],
    under: ['signal'],
    fill: ({ action }) => ({ kind: 'draft_engagement', action: action! }),
  },
  request_audit: {
    needs: [],
    takes: ['days'],
    fill: ({ days = AUDIT_DAYS }) => ({ kind: 'request_audit', days }),
  },
  request_report: { needs: [], takes: [], fill: () => ({ kind: 'request_report' }) },
  resurface: {
    needs: [],
    takes: ['min_age_days', 'min_engagement', 'min_reactions'],
    fill: ({ min_age_days = DEFAULTS.minAgeDays, min_engagement = 0, min_reactions }) => ({
      kind: 'resurface',
      min_age_days,
      min_engagement,
      ...(min_reactions === undefined ? {} : { min_reactions }),
    }),
  },
}

/** Validates an action and fills in defaults. Throws `invalid_input`. */
export const actionOf = (input: ActionInput): RuleAction => {
  const { needs, takes, fill } = kinds[input.kind]
  requireShape(input, { path: 'action', kind: input.kind, needs, takes })
  return fill(input)
}

/** Throws `invalid_input` if the action does not go with the trigger. */
export const requireTrigger = ({ kind }: RuleAction, trigger: Trigger): void => {
  const { under } = kinds[kind]
  if (under && !under.includes(trigger.kind))
    refuseField(
      'action.kind',
      `${kind} needs a trigger of kind ${under.join(' or ')}, not ${trigger.kind}`,
    )
}

/** The least number of days before a post is resurfaced again. */
export const RESURFACE_DAYS = 90
