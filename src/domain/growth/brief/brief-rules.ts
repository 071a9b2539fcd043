/** The brief's rules, one for each kind of action. */
import type { BriefAction, BriefAdvice, BriefFacts, BriefRow, FoundRows } from './brief.ts'
import { ranked } from './brief.ts'
import { engagementRules } from './brief-engagement-rules.ts'
import { about, ageOf, type BriefRule, counted, daysSince, idOf, wait } from './brief-words.ts'

/** The used share at which a quota or budget counts as running out. */
const NEARLY = 0.8
const OLD_PROFILE_DAYS = 60
/** An audit compares eight posts with eight others. */
const LEAST_TO_AUDIT = 16
/** Another audit within this time would find nothing new. */
const AUDIT_EVERY_DAYS = 7
const MOST_IN_BATCH = 20
const USUAL_BATCH = 5

const settlePosts: BriefRule = ({ items: { review } }) =>
  review.count === 0
    ? undefined
    : {
        ...{ kind: 'settle_posts', ...about(review), operation: 'growth.items.markPosted', arguments: idOf(review.rows) },
        title: `Check whether ${counted(review.count, 'post')} went out`,
        why: `The network did not confirm ${counted(review.count, 'post')}, and the timeline does not show ${review.count === 1 ? 'it' : 'them'}. Check the network: mark those that are there as posted, and post the others again.`,
      }

const settleReplies: BriefRule = ({ replies }) =>
  replies.count === 0
    ? undefined
    : {
        ...{ kind: 'settle_replies', ...about(replies), operation: 'agent.channelReplies.settle', arguments: idOf(replies.rows) },
        title: `Check whether ${counted(replies.count, 'reply', 'replies')} arrived`,
        why: `The channel did not say whether it took ${counted(replies.count, 'reply', 'replies')}. Look there, or ask the recipient, then say what arrived; what did not is sent again, once.`,
      }

const fixBilling: BriefRule = ({ billing }) =>
  billing === 'ok'
    ? undefined
    : {
        ...{ kind: 'fix_billing', count: 1, rows: [], operation: 'app.plan.get', arguments: {} },
        title: 'Fix billing',
        why: `Billing is in the state ${billing}. Drafting and posting are refused until it is in order; reading still works.`,
      }

const connectAccount: BriefRule = ({ accounts, items: { approved, approved_articles: approvedArticles, scheduled } }) => {
  if (accounts.connected > 0) return undefined
  const waiting = approved.count + approvedArticles.count + scheduled.count
  const common = { operation: 'app.connections.connectSandbox', arguments: {}, title: 'Connect an account' }
  if (waiting === 0)
    return {
      ...common,
      kind: 'connect_first_account',
      count: 1,
      rows: [],
      why: 'No account is connected, so nothing can be posted.',
    }
  const why = `No account is connected, and ${counted(waiting, 'approved post')} ${wait(waiting)} to go out${
    scheduled.count > 0 ? `, ${scheduled.count} of them scheduled` : ''
  }.`
  return { ...common, kind: 'connect_account', count: waiting, rows: [...scheduled.rows, ...approved.rows, ...approvedArticles.rows], why }
}

const retryFailed: BriefRule = ({ items: { failed }, lastError }) =>
  failed.count === 0
    ? undefined
    : {
        ...{ kind: 'retry_failed_posts', ...about(failed), operation: 'growth.items.list', arguments: { status: 'publish_failed' } },
        title: `Retry or reject ${counted(failed.count, 'failed post')}`,
        why: `The network refused ${counted(failed.count, 'post')}${lastError ? `, the first with “${lastError}”` : ''}. Post or schedule each one again, or reject it.`,
      }

const resume: BriefRule = ({ paused, items: { scheduled } }) =>
  !paused || scheduled.count === 0
    ? undefined
    : {
        ...{ kind: 'resume_automation', ...about(scheduled), operation: 'growth.automation.resumeAll', arguments: {} },
        title: 'Resume automation',
        why: `All automation is paused. ${counted(scheduled.count, 'scheduled post')} ${wait(scheduled.count)} for it to resume.`,
      }

const startProfile: BriefRule = ({ isBare, missing }) => {
  if (!isBare && missing.length === 0) return undefined
  const common = { count: Math.max(1, missing.length), rows: [], operation: 'growth.profile.update', arguments: {} }
  const empty = `Empty: ${missing.join(', ')}.`
  if (isBare)
    return {
      ...common,
      kind: 'start_profile',
      title: 'Fill in the profile',
      why: `Drafts are built from stories and proof, and the profile has none. ${empty}`,
    }
  return {
    ...common,
    kind: 'complete_profile',
    title: 'Complete the profile',
    why: `${empty} Filling them in makes drafts sound more like you.`,
  }
}

const approvals =
  (kind: 'approve_posts' | 'approve_articles', group: 'drafts' | 'articles', noun: string): BriefRule =>
  ({ items, now }) => {
    const found = items[group]
    if (found.count === 0) return undefined
    const why = `${counted(found.count, `drafted ${noun}`)} ${wait(found.count)} for approval${ageOf(found.rows, now)}. Nothing goes out without approval.`
    return {
      kind,
      ...about(found),
      operation: 'growth.items.approve',
      arguments: idOf(found.rows),
      title: `Approve ${counted(found.count, noun)}`,
      why,
    }
  }

const slotRows = (slots: readonly Date[]): BriefRow[] =>
  slots.map((at) => ({
    id: null,
    type: 'slot',
    title: `Free on ${at.toISOString().slice(0, 16).replace('T', ' at ')} UTC`,
    status: 'free',
    at,
  }))

/** Posts that can still be drafted this month. */
const leftOf = ({ used, limit }: BriefFacts['quota']): number => Math.max(0, limit - used)

/** Approved posts fill slots first; otherwise something must be drafted. */
const fillSlots: BriefRule = ({ slots, items: { approved, drafts }, drafting, isBare, quota }) => {
  if (!slots || slots.length === 0) return undefined
  const common = { kind: 'fill_slots' as const, count: slots.length, title: `Fill ${counted(slots.length, 'free slot')}` }
  const free = `${counted(slots.length, 'slot')} of the next 7 days ${slots.length === 1 ? 'is' : 'are'} free`
  if (approved.count > 0) {
    const why = `${free}, and ${counted(approved.count, 'approved post')} ${wait(approved.count)} without a time.`
    return {
      ...common,
      operation: 'growth.items.schedule',
      arguments: { ...idOf(approved.rows), post_at: 'next_slot' },
      why,
      rows: slotRows(slots),
    }
  }
  const missing = slots.length - drafts.count
  const count = Math.min(missing, MOST_IN_BATCH, leftOf(quota))
  if (count <= 0 || drafting > 0 || isBare) return undefined
  const why = `${free}, and ${drafts.count === 0 ? 'nothing is' : `only ${counted(drafts.count, 'post is', 'posts are')}`} drafted for them.`
  return {
    ...common,
    operation: 'growth.batches.create',
    arguments: { count },
    why,
    rows: slotRows(slots),
  }
}

const raiseQuota: BriefRule = ({ quota }) => {
  const { used, limit, resetsAt } = quota
  if (limit === 0 || used < limit * NEARLY) return undefined
  const left = leftOf(quota)
  const title = left === 0 ? 'The post quota is used up' : 'The post quota is running out'
  const why = `${used} of this month's ${limit} posts are used. ${left === 0 ? 'None are' : left === 1 ? '1 is' : `${left} are`} left until ${resetsAt.toISOString().slice(0, 10)}. Whoever runs this deployment can raise the limit.`
  return { kind: 'raise_quota', count: 1, rows: [], operation: 'app.plan.get', arguments: {}, title, why }
}

const raiseBudget: BriefRule = ({ near }) => {
  if (near.length === 0) return undefined
  const isUsedUp = near.some(({ level }) => level === 100)
  const title = isUsedUp ? 'A budget is used up' : 'A budget is running out'
  const why = near.map(({ message }) => message).join(' ')
  return { kind: 'raise_budget', count: near.length, rows: [], operation: 'app.plan.get', arguments: {}, title, why }
}

const draftPosts: BriefRule = ({ items: { drafts, approved, scheduled }, drafting, isBare, isInactive, slots, quota }) => {
  const count = Math.min(USUAL_BATCH, leftOf(quota))
  const inQueue = drafts.count + approved.count + scheduled.count + drafting
  if (count === 0 || inQueue > 0 || isBare || isInactive || (slots?.length ?? 0) > 0) return undefined
  return {
    ...{ kind: 'draft_posts', count, rows: [], operation: 'growth.batches.create', arguments: { count } },
    title: 'Draft posts',
    why: 'The queue is empty: nothing is drafted, approved or scheduled.',
  }
}

/** With a cadence the next slot is asked for; without one, the person chooses a time. */
const schedule = (
  kind: 'schedule_posts' | 'schedule_articles',
  noun: string,
  { found, slot }: { found: FoundRows; slot: boolean },
): BriefAdvice => ({
  ...{ kind, ...about(found), operation: 'growth.items.schedule' },
  arguments: { ...idOf(found.rows), ...(slot ? { post_at: 'next_slot' } : {}) },
  title: `Schedule ${counted(found.count, `approved ${noun}`)}`,
  why: `${counted(found.count, `approved ${noun}`)} ${wait(found.count)} without a time.`,
})

const schedulePosts: BriefRule = ({ items: { approved: found }, slots, cadences }) =>
  found.count === 0 || (slots?.length ?? 0) > 0 ? undefined : schedule('schedule_posts', 'post', { found, slot: cadences.posts })

const scheduleArticles: BriefRule = ({ items: { approved_articles: found }, cadences }) =>
  found.count === 0 ? undefined : schedule('schedule_articles', 'article', { found, slot: cadences.articles })

const concludeExperiment: BriefRule = ({ ready }) =>
  ready.count === 0
    ? undefined
    : {
        ...{ kind: 'conclude_experiment', ...about(ready), operation: 'growth.experiments.conclude', arguments: idOf(ready.rows) },
        title: `Conclude ${counted(ready.count, 'experiment')}`,
        why: `Every arm of ${ready.count === 1 ? `“${ready.rows[0]?.title}”` : `${ready.count} experiments`} has enough posts with metrics.`,
      }

const runAudit: BriefRule = ({ measured, activeLearnings, auditedAt, mayAudit, now }) =>
  !mayAudit || measured < LEAST_TO_AUDIT || activeLearnings > 0 || (auditedAt && daysSince(auditedAt, now) < AUDIT_EVERY_DAYS)
    ? undefined
    : {
        ...{ kind: 'run_audit', count: measured, rows: [], operation: 'growth.audits.create', arguments: {} },
        title: 'Run an audit',
        why: `${measured}${measured >= 20 ? ' or more' : ''} posts have metrics, and nothing has been learned from them yet.`,
      }

const spareReads: BriefRule = ({ reads: { used, limit, reserved, tier } }) => {
  const room = limit - reserved
  if (room <= 0 || used < room * NEARLY) return undefined
  const percent = Math.min(100, Math.floor((100 * used) / room))
  const why = `${percent}% of today's read budget (${tier} tier) is used. When it runs out, watching and measuring stop until tomorrow.`
  return {
    kind: 'spare_reads',
    count: 1,
    rows: [],
    operation: 'growth.connection.get',
    arguments: {},
    title: 'The read budget is running out',
    why,
  }
}

const watchPosts: BriefRule = ({ items: { unconfirmed } }) =>
  unconfirmed.count === 0
    ? undefined
    : {
        ...{ kind: 'watch_posts', ...about(unconfirmed), operation: 'growth.items.list', arguments: { status: 'publish_unconfirmed' } },
        title: `Wait for ${counted(unconfirmed.count, 'unconfirmed post')}`,
        why: `The network did not confirm ${counted(unconfirmed.count, 'post')}. Tendril is reading the timeline; do not post again.`,
      }

const refreshProfile: BriefRule = ({ profileUpdatedAt, now, isBare, missing }) => {
  const days = profileUpdatedAt ? daysSince(profileUpdatedAt, now) : 0
  if (days < OLD_PROFILE_DAYS || isBare || missing.length > 0) return undefined
  const why = `The profile was last changed ${days} days ago. New stories and proof keep drafts from repeating themselves.`
  return {
    kind: 'refresh_profile',
    count: 1,
    rows: [],
    operation: 'growth.profile.update',
    arguments: {},
    title: 'Update the profile',
    why,
  }
}

const rules: readonly BriefRule[] = [
  ...engagementRules,
  ...[settlePosts, settleReplies, fixBilling, connectAccount, retryFailed, resume, startProfile],
  ...[approvals('approve_posts', 'drafts', 'post'), approvals('approve_articles', 'articles', 'article')],
  ...[
    fillSlots,
    raiseQuota,
    raiseBudget,
    draftPosts,
    schedulePosts,
    scheduleArticles,
    concludeExperiment,
    runAudit,
    spareReads,
    watchPosts,
    refreshProfile,
  ],
]

export const actionsOf = (facts: BriefFacts): BriefAction[] => ranked(rules.flatMap((rule) => rule(facts) ?? []))
