/** What waits for this person. */
import type { AnswerOf } from '../api/operations.ts'

export type InboxEntry = AnswerOf<'agent.inbox.list'>['entries'][number]
export type EntryKind = InboxEntry['kind']

export interface Filters {
  kind?: EntryKind | undefined
  q?: string | undefined
  account?: string | undefined
  source?: NonNullable<InboxEntry['source']>['kind'] | undefined
}
