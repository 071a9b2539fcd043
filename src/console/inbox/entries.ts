/** What waits for this person, page by page, with its counts. */
import { useInfiniteQuery } from '@tanstack/react-query'
import type { AnswerOf } from '../api/operations.ts'
import { callOperation } from '../api/request.ts'

type Answer = AnswerOf<'agent.inbox.list'>
export type InboxEntry = Answer['entries'][number]
export type EntryKind = InboxEntry['kind']

export interface Filters {
  kind?: EntryKind | undefined
  q?: string | undefined
  account?: string | undefined
}

const PAGE = 100

export const useEntries = (filters: Filters) =>
  useInfiniteQuery({
    queryKey: ['agent.inbox.list', filters],
    queryFn: ({ pageParam, signal }) =>
      callOperation(
        'agent.inbox.list',
        { ...filters, limit: PAGE, ...(pageParam !== undefined && { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    // What is on the screen stays there while other filters are read.
    placeholderData: (before) => before,
  })
