/** What rules do: they make drafts, and nothing else. Whatever comes of it waits for approval like any draft. */
import type { ArticleLength } from '../drafting/article.ts'
import { MOST_POINTS, pointsOf } from '../drafting/article-text.ts'
import type { EngageAction } from '../drafting/engagement.ts'
import { AUDIT_DAYS } from '../learning/growth-audit.ts'
import { refuseField, requireShape, type Trigger } from './rule-trigger.ts'

export const ruleActionKinds = ['draft_batch', 'draft_article', 'draft_engagement', 'request_audit', 'request_report', 'resurface'] as const
export type RuleActionKind = (typeof ruleActionKinds)[number]

export type RuleAction =
  | { kind: 'draft_batch'; count: number; focus: string }
  | { kind: 'draft_article'; topic: string; length: ArticleLength; outline?: string }
  /** An answer to the signal. */
  | { kind: 'draft_engagement'; action: EngageAction }
  /** Of the posts of so many days. */
  | { kind: 'request_audit'; days: number }
  /** Of the week that it is. */
  | { kind: 'request_report' }
  /** A new draft with the text of a post that is old enough and did well enough; `min_engagement`: reactions per impression. */
  | { kind: 'resurface'; min_age_days: number; min_engagement: number }

/** As it is asked for. */
export interface ActionWish {
  kind: RuleActionKind
  count?: number
  focus?: string
  topic?: string
  length?: ArticleLength
  outline?: string
  action?: EngageAction
  days?: number
  min_age_days?: number
  min_engagement?: number
}

const DEFAULTS = { count: 3, minAgeDays: 90 }

interface Kind {
  needs: (keyof ActionWish)[]
  takes: (keyof ActionWish)[]
  /** Triggers it makes sense under; any where there is none. */
  under?: Trigger['kind'][]
  fill(wish: ActionWish): RuleAction
}

const outlineOf = ({ outline = '' }: ActionWish): { outline?: string } => {
  const points = pointsOf(outline).length
  if (points > MOST_POINTS) refuseField('action.outline', `has ${points} points; at most ${MOST_POINTS}`)
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
    fill: (wish) => ({ kind: 'draft_article', topic: wish.topic!.trim(), length: wish.length ?? 'medium', ...outlineOf(wish) }),
  },
  draft_engagement: {
    needs: ['action'],
    takes: ['action'],
    under: ['signal'],
    fill: ({ action }) => ({ kind: 'draft_engagement', action: action! }),
  },
  request_audit: { needs: [], takes: ['days'], fill: ({ days = AUDIT_DAYS }) => ({ kind: 'request_audit', days }) },
  request_report: { needs: [], takes: [], fill: () => ({ kind: 'request_report' }) },
  resurface: {
    needs: [],
    takes: ['min_age_days', 'min_engagement'],
    fill: ({ min_age_days = DEFAULTS.minAgeDays, min_engagement = 0 }) => ({ kind: 'resurface', min_age_days, min_engagement }),
  },
}

/** An action that can be kept, with what was left open filled in. */
export const actionOf = (wish: ActionWish): RuleAction => {
  const { needs, takes, fill } = kinds[wish.kind]
  requireShape(wish, { path: 'action', kind: wish.kind, needs, takes })
  return fill(wish)
}

/** Throws `invalid_input` where the action means nothing under the trigger. */
export const requireFits = ({ kind }: RuleAction, trigger: Trigger): void => {
  const { under } = kinds[kind]
  if (under && !under.includes(trigger.kind))
    refuseField('action.kind', `${kind} is for triggers of kind ${under.join(' or ')}, not ${trigger.kind}`)
}

/** A post comes back as a draft so many days apart at least. */
export const RESURFACE_DAYS = 90
