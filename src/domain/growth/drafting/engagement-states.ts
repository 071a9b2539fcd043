/** The states of an engagement, and what people may do with it in each. */
import { transitionsOf, type WayOn } from '../transitions.ts'
import type { Engagement, EngagementStatus } from './engagement.ts'

export const IN_REVIEW = 'execute_unconfirmed (in review)'
type State = EngagementStatus | typeof IN_REVIEW

const stateOf = ({ status, review }: Engagement): State =>
  status === 'execute_unconfirmed' && review ? IN_REVIEW : status

const LOOK = 'growth.engagements.get'
const APPROVE = 'growth.engagements.approve'
const REOPEN = 'growth.engagements.reopen'
const UNWRITTEN: WayOn = { words: 'read it again once it is drafted', operation: LOOK }

const waysOn: Record<State, WayOn> = {
  queued: UNWRITTEN,
  generating: UNWRITTEN,
  failed: { words: 'make another one of the same post', operation: LOOK },
  drafted: { words: 'approve it first', operation: APPROVE },
  approved: { words: 'execute it, or reopen it to change or reject it', operation: REOPEN },
  executing: { words: 'it is on its way: read it again for the outcome', operation: LOOK },
  executed: { words: 'nothing is left to do', operation: LOOK },
  rejected: { words: 'reopen it first', operation: REOPEN },
  execute_failed: {
    words: 'execute it again, or reject it',
    operation: 'growth.engagements.execute',
  },
  execute_unconfirmed: {
    words: 'its outcome is being looked up: read it again later',
    operation: LOOK,
  },
  [IN_REVIEW]: {
    words: 'look at the network: approve it if it is there, reject it if not',
    operation: APPROVE,
  },
}

const CHECK = 'once it is in review, approve it if it is there, or reject it if not'

/**
 * While a record is on its way, it is refused actions here that are allowed once it was taken back.
 */
export const engagementStates = transitionsOf({
  noun: 'engagement',
  reads: LOOK,
  stateOf,
  inDoubt: { words: `check there, and ${CHECK}`, operation: LOOK, isInDoubt: true },
  waysOn,
  leadsTo: {
    approved: ['approved'],
    reopened: ['drafted'],
    rejected: ['rejected'],
    execution_requested: ['executing'],
    confirmed: ['executed'],
    marked_done: ['executed'],
  },
  actions: {
    approve: { from: ['drafted'], to: 'approved' },
    confirm: { from: [IN_REVIEW], to: 'executed' },
    reject: { from: ['drafted', 'execute_failed', IN_REVIEW], to: 'rejected' },
    edit: { from: ['drafted', 'approved'], to: 'drafted' },
    reopen: { from: ['approved', 'rejected', 'execute_failed'], to: 'drafted' },
    delete: { from: ['drafted', 'approved', 'rejected', 'failed', 'execute_failed'] },
    execute: {
      from: ['approved', 'execute_failed'],
      to: 'executing',
      instead: ({ status }) =>
        status === 'execute_unconfirmed' ? { words: CHECK, isInDoubt: true } : undefined,
    },
    'mark done': {
      from: ['drafted', 'approved', 'execute_failed', 'execute_unconfirmed', IN_REVIEW],
      to: 'executed',
    },
  },
})
