/** The way on from each state of an engagement. */
import type { WayOn } from '../way-on.ts'

/** What of an engagement says where it stands. */
interface Standing {
  status:
    | (
        | 'queued'
        | 'generating'
        | 'failed'
        | 'drafted'
        | 'approved'
        | 'executing'
        | 'executed'
        | 'rejected'
      )
    | ('execute_failed' | 'execute_unconfirmed')
  review: boolean
}

const LOOK = 'growth.engagements.get'

const ofUnconfirmed = (review: boolean): WayOn =>
  review
    ? {
        words: 'look at the network: approve it if it is there, reject it if not',
        operation: 'growth.engagements.approve',
      }
    : { words: 'its outcome is being looked up: read it again later', operation: LOOK }

export const engagementWayOn = ({ status, review }: Standing): WayOn => {
  switch (status) {
    case 'queued':
    case 'generating':
      return { words: 'read it again once it is drafted', operation: LOOK }
    case 'drafted':
      return { words: 'approve it first', operation: 'growth.engagements.approve' }
    case 'approved':
      return {
        words: 'execute it, or reopen it to change or reject it',
        operation: 'growth.engagements.reopen',
      }
    case 'executing':
      return { words: 'it is on its way: read it again for the outcome', operation: LOOK }
    case 'execute_unconfirmed':
      return ofUnconfirmed(review)
    case 'execute_failed':
      return { words: 'execute it again, or reject it', operation: 'growth.engagements.execute' }
    case 'executed':
      return { words: 'nothing is left to do', operation: LOOK }
    case 'rejected':
      return { words: 'reopen it first', operation: 'growth.engagements.reopen' }
    case 'failed':
      return { words: 'make another one of the same post', operation: LOOK }
  }
}
