/**
 * The state table of content items, written out cell by cell from the API document ("States and
 * transitions") and the design ("Posting exactly once"): the state that follows, or `refused` for
 * 409. Nothing here is computed by the code under test.
 */
import type { StateName } from './records.ts'

export const commands = [
  'approve',
  'reject',
  'schedule',
  'unschedule',
  'post',
  'post again',
  'mark posted',
  'claim when due',
  'claim when asked',
] as const
export type Command = (typeof commands)[number]

const refused = '409'
export type Cell = StateName | typeof refused

const untouchable: Record<Command, Cell> = {
  approve: refused,
  reject: refused,
  schedule: refused,
  unschedule: refused,
  post: refused,
  'post again': refused,
  'mark posted': refused,
  'claim when due': refused,
  'claim when asked': refused,
}

export const transitions: Record<StateName, Record<Command, Cell>> = {
  drafted: { ...untouchable, approve: 'approved', reject: 'rejected' },
  approved: { ...untouchable, schedule: 'scheduled', post: 'publishing', 'mark posted': 'posted' },
  scheduled: {
    ...untouchable,
    schedule: 'scheduled',
    unschedule: 'approved',
    post: 'publishing',
    'mark posted': 'posted',
    'claim when due': 'publishing',
  },
  publishing: { ...untouchable, 'claim when asked': 'publishing' },
  posted: untouchable,
  rejected: untouchable,
  publish_failed: { ...untouchable, reject: 'rejected', schedule: 'scheduled', post: 'publishing' },
  // A person's word that it be posted again changes nothing before the timeline has been read.
  publish_unconfirmed: {
    ...untouchable,
    'post again': 'publish_unconfirmed',
    'mark posted': 'posted',
  },
  'in review': { ...untouchable, 'post again': 'in review', 'mark posted': 'posted' },
}
