/** The states of an item, and what people may do with it in each. */
import { transitionsOf, type WayOn } from '../transitions.ts'
import type { Item, ItemStatus } from './item.ts'

type State = ItemStatus | 'scheduled' | 'publish_unconfirmed (in review)'

const stateOf = ({ status, post_at, review }: Item): State => {
  if (status === 'approved' && post_at) return 'scheduled'
  if (status === 'publish_unconfirmed' && review) return 'publish_unconfirmed (in review)'
  return status
}

const LOOK = 'growth.items.get'
const REOPEN: WayOn = { words: 'reopen it first', operation: 'growth.items.reopen' }

const waysOn: Record<State, WayOn> = {
  drafted: { words: 'approve it first', operation: 'growth.items.approve' },
  approved: REOPEN,
  scheduled: REOPEN,
  publishing: { words: 'it is on its way: read it again for the outcome', operation: LOOK },
  posted: { words: 'duplicate it for a new draft', operation: 'growth.items.duplicate' },
  rejected: REOPEN,
  publish_failed: REOPEN,
  publish_unconfirmed: {
    words: 'its outcome is being looked up: read it again later',
    operation: LOOK,
  },
  'publish_unconfirmed (in review)': {
    words: 'look at the network, and mark it posted if it is there',
    operation: 'growth.items.markPosted',
  },
}

const UNCONFIRMED: State[] = ['publish_unconfirmed', 'publish_unconfirmed (in review)']

const onceApproved = ({ status, post_at }: Item): WayOn | undefined => {
  if (status !== 'approved') return undefined
  if (post_at === null)
    return { words: 'schedule it, or post it now', operation: 'growth.items.schedule' }
  const words = `it goes out at ${post_at.toISOString()}; reopen it to change it`
  return { words, operation: 'growth.items.reopen' }
}

/**
 * While a record is on its way, it is refused actions here that are allowed once it was taken back.
 */
export const itemStates = transitionsOf({
  noun: 'item',
  reads: LOOK,
  stateOf,
  inDoubt: {
    words: 'check there, and mark it posted, or confirm post_again, or duplicate it',
    operation: LOOK,
    isInDoubt: true,
  },
  waysOn,
  leadsTo: {
    approved: ['approved', 'scheduled'],
    scheduled: ['scheduled'],
    unscheduled: ['approved'],
    reopened: ['drafted'],
    rejected: ['rejected'],
    post_requested: ['publishing'],
    marked_posted: ['posted'],
  },
  actions: {
    approve: { from: ['drafted'], to: 'approved', instead: onceApproved },
    reject: { from: ['drafted', 'publish_failed'], to: 'rejected' },
    reopen: { from: ['approved', 'scheduled', 'rejected', 'publish_failed'], to: 'drafted' },
    edit: { from: ['drafted', 'approved', 'scheduled'], to: 'drafted' },
    redraft: { from: ['drafted'] },
    delete: { from: ['drafted', 'approved', 'scheduled', 'rejected', 'publish_failed'] },
    schedule: { from: ['approved', 'scheduled', 'publish_failed'], to: 'approved' },
    unschedule: {
      from: ['scheduled'],
      instead: ({ post_at }) =>
        post_at === null ? { words: 'it has no time', operation: LOOK } : undefined,
    },
    post: {
      from: ['approved', 'scheduled', 'publish_failed'],
      to: 'publishing',
      instead: ({ status }) =>
        status === 'publish_unconfirmed'
          ? { words: 'check there, and mark it posted if so', isInDoubt: true }
          : undefined,
    },
    'post again': { from: UNCONFIRMED },
    'mark posted': { from: ['approved', 'scheduled', ...UNCONFIRMED], to: 'posted' },
  },
})
