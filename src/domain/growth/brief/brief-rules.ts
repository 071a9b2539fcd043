/** The brief's rules, one for each kind of action. */
import { type BriefAction, type BriefFacts, rankAdvice } from './brief.ts'
import { engagementRules } from './brief-engagement-rules.ts'
import { postRules } from './brief-post-rules.ts'
import { type BriefRule, daysSince, idOf, leftOf, onFound, pluralise, wait } from './brief-words.ts'

/** The used share at which a quota or budget counts as running out. */
const NEARLY = 0.8
const OLD_PROFILE_DAYS = 60
/** An audit compares eight posts with eight others. */
const LEAST_TO_AUDIT = 16
/** Another audit within this time would find nothing new. */
const AUDIT_EVERY_DAYS = 7

/** Of advice about no record in particular. */
const general = { count: 1, rows: [], arguments: {} }

const settleReplies: BriefRule = ({ replies }) =>
  onFound(replies, {
    kind: 'settle_replies',
    operation: 'agent.channelReplies.settle',
    arguments: idOf(replies.rows),
    title: `Check whether ${pluralise(replies.count, 'reply', 'replies')} arrived`,
    why: `The channel did not say whether it took ${pluralise(replies.count, 'reply', 'replies')}. Look there, or ask the recipient, then say what arrived; what did not is sent again, once.`,
  })

const fixBilling: BriefRule = ({ billing }) => {
  if (billing === 'ok') return undefined
  const why = `Billing is in the state ${billing}. Drafting and posting are refused until it is in order; reading still works.`
  return { ...general, kind: 'fix_billing', operation: 'app.plan.get', title: 'Fix billing', why }
}

const reconnectAccount: BriefRule = ({ accounts: { lost } }) => {
  if (lost.length === 0) return undefined
  const why = `${lost.join(', ')}: the network no longer accepts what the account was connected with. Its scheduled posts wait until they count as missed.`
  return {
    ...general,
    kind: 'reconnect_account',
    count: lost.length,
    operation: 'app.connections.connectBluesky',
    title: 'Sign in to the network again',
    why,
  }
}

const connectAccount: BriefRule = ({
  accounts,
  items: { approved, approved_articles: approvedArticles, scheduled },
}) => {
  if (accounts.connected + accounts.lost.length > 0) return undefined
  const waiting = approved.count + approvedArticles.count + scheduled.count
  const common = {
    ...general,
    operation: 'app.connections.connectSandbox',
    title: 'Connect an account',
  }
  if (waiting === 0)
    return {
      ...common,
      kind: 'connect_first_account',
      why: 'No account is connected, so nothing can be posted.',
    }
  const why = `No account is connected, and ${pluralise(waiting, 'approved post')} ${wait(waiting)} to go out${
    scheduled.count > 0 ? `, ${scheduled.count} of them scheduled` : ''
  }.`
  return {
    ...common,
    kind: 'connect_account',
    count: waiting,
    rows: [...scheduled.rows, ...approved.rows, ...approvedArticles.rows],
    why,
  }
}

const resume: BriefRule = ({ paused, items: { scheduled } }) => {
  if (!paused) return undefined
  return onFound(scheduled, {
    kind: 'resume_automation',
    operation: 'growth.automation.resumeAll',
    arguments: {},
    title: 'Resume automation',
    why: `All automation is paused. ${pluralise(scheduled.count, 'scheduled post')} ${wait(scheduled.count)} for it to resume.`,
  })
}

const startProfile: BriefRule = ({ isBare, missing }) => {
  if (!isBare && missing.length === 0) return undefined
  const common = {
    ...general,
    count: Math.max(1, missing.length),
    operation: 'growth.profile.update',
  }
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

const raiseQuota: BriefRule = ({ quota }) => {
  const { used, limit, resetsAt } = quota
  if (limit === 0 || used < limit * NEARLY) return undefined
  const left = leftOf(quota)
  const title = left === 0 ? 'The post quota is used up' : 'The post quota is running out'
  const why = `${used} of this month's ${limit} posts are used. ${left === 0 ? 'None are' : left === 1 ? '1 is' : `${left} are`} left until ${resetsAt.toISOString().slice(0, 10)}. Whoever runs this deployment can raise the limit.`
  return { ...general, kind: 'raise_quota', operation: 'app.plan.get', title, why }
}

const raiseBudget: BriefRule = ({ near }) => {
  if (near.length === 0) return undefined
  const isUsedUp = near.some(({ level }) => level === 100)
  const title = isUsedUp ? 'A budget is used up' : 'A budget is running out'
  const why = near.map(({ message }) => message).join(' ')
  return {
    ...general,
    kind: 'raise_budget',
    count: near.length,
    operation: 'app.plan.get',
    title,
    why,
  }
}

const concludeExperiment: BriefRule = ({ ready }) =>
  onFound(ready, {
    kind: 'conclude_experiment',
    operation: 'growth.experiments.conclude',
    arguments: idOf(ready.rows),
    title: `Conclude ${pluralise(ready.count, 'experiment')}`,
    why: `Every arm of ${ready.count === 1 ? `“${ready.rows[0]?.title}”` : `${ready.count} experiments`} has enough posts with metrics.`,
  })

const runAudit: BriefRule = ({ measured, activeLearnings, auditedAt, mayAudit, now }) => {
  const isRecent = auditedAt && daysSince(auditedAt, now) < AUDIT_EVERY_DAYS
  if (!mayAudit || measured < LEAST_TO_AUDIT || activeLearnings > 0 || isRecent) return undefined
  const why = `${measured}${measured >= 20 ? ' or more' : ''} posts have metrics, and nothing has been learned from them yet.`
  return {
    ...general,
    kind: 'run_audit',
    count: measured,
    operation: 'growth.audits.create',
    title: 'Run an audit',
    why,
  }
}

const spareReads: BriefRule = ({ reads: { used, limit, reserved, tier } }) => {
  const room = limit - reserved
  if (room <= 0 || used < room * NEARLY) return undefined
  const percent = Math.min(100, Math.floor((100 * used) / room))
  const why = `${percent}% of today's read budget (${tier} tier) is used. When it runs out, watching and measuring stop until tomorrow.`
  return {
    ...general,
    kind: 'spare_reads',
    operation: 'growth.connection.get',
    title: 'The read budget is running out',
    why,
  }
}

const refreshProfile: BriefRule = ({ profileUpdatedAt, now, isBare, missing }) => {
  const days = profileUpdatedAt ? daysSince(profileUpdatedAt, now) : 0
  if (days < OLD_PROFILE_DAYS || isBare || missing.length > 0) return undefined
  const why = `The profile was last changed ${days} days ago. New stories and proof keep drafts from repeating themselves.`
  return {
    ...general,
    kind: 'refresh_profile',
    operation: 'growth.profile.update',
    title: 'Update the profile',
    why,
  }
}

const rules: readonly BriefRule[] = [
  ...engagementRules,
  ...postRules,
  settleReplies,
  fixBilling,
  connectAccount,
  reconnectAccount,
  resume,
  startProfile,
  raiseQuota,
  raiseBudget,
  concludeExperiment,
  runAudit,
  spareReads,
  refreshProfile,
]

export const actionsOf = (facts: BriefFacts): BriefAction[] =>
  rankAdvice(rules.flatMap((rule) => rule(facts) ?? []))
