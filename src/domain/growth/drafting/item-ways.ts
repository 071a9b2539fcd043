/** The way on from each state of an item. */
import type { WayOn } from '../way-on.ts'

/** What of an item says where it stands. */
interface Standing {
  status:
    | 'drafted'
    | 'approved'
    | 'publishing'
    | 'posted'
    | 'rejected'
    | 'publish_failed'
    | 'publish_unconfirmed'
  review: boolean
  post_at: Date | null
}

const LOOK = 'growth.items.get'
const REOPEN: WayOn = { words: 'reopen it first', operation: 'growth.items.reopen' }

const ofApproved = ({ post_at }: Standing, action: string): WayOn => {
  if (action !== 'approve') return REOPEN
  if (post_at === null)
    return { words: 'schedule it, or post it now', operation: 'growth.items.schedule' }
  return {
    words: `it goes out at ${post_at.toISOString()}; reopen it to change it`,
    operation: 'growth.items.reopen',
  }
}

const ofUnconfirmed = ({ review }: Standing): WayOn =>
  review
    ? {
        words: 'look at the network, and mark it posted if it is there',
        operation: 'growth.items.markPosted',
      }
    : { words: 'its outcome is being looked up: read it again later', operation: LOOK }

/** `action`: what the item's state does not allow. */
export const wayOnOf = (item: Standing, action: string): WayOn => {
  if (action === 'unschedule' && item.post_at === null)
    return { words: 'it has no time', operation: LOOK }
  switch (item.status) {
    case 'drafted':
      return { words: 'approve it first', operation: 'growth.items.approve' }
    case 'approved':
      return ofApproved(item, action)
    case 'publishing':
      return { words: 'it is on its way: read it again for the outcome', operation: LOOK }
    case 'posted':
      return { words: 'duplicate it for a new draft', operation: 'growth.items.duplicate' }
    case 'publish_unconfirmed':
      return ofUnconfirmed(item)
    case 'rejected':
    case 'publish_failed':
      return REOPEN
  }
}
