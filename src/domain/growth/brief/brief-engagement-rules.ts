/** Rules about engagements and signals. */
import { ageOf, type BriefRule, idOf, onFound, pluralise, wait } from './brief-words.ts'

const settleEngagements: BriefRule = ({ items: { engaged } }) =>
  onFound(engaged, {
    kind: 'settle_engagements',
    operation: 'growth.engagements.approve',
    arguments: idOf(engaged.rows),
    title: `Check whether ${pluralise(engaged.count, 'engagement')} took place`,
    why: `The network did not confirm ${pluralise(engaged.count, 'engagement')}, and the timeline does not show ${engaged.count === 1 ? 'it' : 'them'}. Check the network: approve those that took place, and reject the others.`,
  })

const approveEngagements: BriefRule = ({ items: { engagements }, now }) =>
  onFound(engagements, {
    kind: 'approve_engagements',
    operation: 'growth.engagements.approve',
    arguments: idOf(engagements.rows),
    title: `Approve ${pluralise(engagements.count, 'engagement')}`,
    why: `${pluralise(engagements.count, 'drafted engagement')} ${wait(engagements.count)} for approval${ageOf(engagements.rows, now)}.`,
  })

const executeEngagements: BriefRule = ({ items: { engaging }, mayEngage, accounts }) => {
  if (!mayEngage || accounts.connected === 0) return undefined
  return onFound(engaging, {
    kind: 'execute_engagements',
    operation: 'growth.engagements.execute',
    arguments: idOf(engaging.rows),
    title: `Execute ${pluralise(engaging.count, 'engagement')}`,
    why: `${pluralise(engaging.count, 'approved engagement')} ${wait(engaging.count)} to be executed; none goes out by itself.`,
  })
}

/** If the network lets no program answer, the list offers links for people. */
const answerSignals: BriefRule = ({ items: { signals }, mayEngage, engageBy }) => {
  if (!mayEngage) return undefined
  const way = engageBy
    ? { operation: 'growth.signals.engage', arguments: { ...idOf(signals.rows), action: engageBy } }
    : { operation: 'growth.signals.list', arguments: {} }
  return onFound(signals, {
    kind: 'answer_signals',
    ...way,
    title: `Answer ${pluralise(signals.count, 'signal')}`,
    why: `${pluralise(signals.count, 'post')} by watched accounts, or to yours, may deserve a response, best first. Each expires 48 hours after it was posted.`,
  })
}

export const engagementRules: readonly BriefRule[] = [
  settleEngagements,
  approveEngagements,
  executeEngagements,
  answerSignals,
]
