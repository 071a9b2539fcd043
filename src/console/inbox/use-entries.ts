/** What waits for this person, read page by page as it comes near the screen, with its counts. */
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { FRESH_MS, queryClient } from '../api/queries.ts'
import { callOperation } from '../api/request.ts'
import type { Filters } from './entries.ts'
import { type EntryList, isDue, type OnScreen, readEntries } from './entry-list.ts'

const PAGE = 100

const keyOf = (filters: Filters) => ['agent.inbox.list', filters] as const

/** What was read before; undefined if nothing was. */
const readingOf = (filters: Filters, seen: OnScreen) => {
  const state = queryClient.getQueryState<EntryList>(keyOf(filters))
  if (!state?.data) return undefined
  const { data: list, isInvalidated, dataUpdatedAt } = state
  return { list, seen, isOld: isInvalidated || Date.now() - dataUpdatedAt > FRESH_MS }
}

export const useEntries = (filters: Filters) => {
  const seen = useRef<OnScreen>({ isEnd: false })
  const read = useQuery<EntryList>({
    queryKey: keyOf(filters),
    queryFn: ({ signal }) =>
      readEntries(readingOf(filters, seen.current), (cursor) =>
        callOperation(
          'agent.inbox.list',
          { ...filters, limit: PAGE, ...(cursor !== undefined && { cursor }) },
          { signal },
        ),
      ),
    // What is on the screen stays there while other filters are read.
    placeholderData: (before) => before,
    // The list shares what has not changed by itself, and page by page.
    structuralSharing: false,
  })
  const { refetch, isFetching, isError, isPlaceholderData } = read
  const list = isPlaceholderData || isFetching || isError ? undefined : read.data
  const check = useCallback(() => {
    if (list && isDue(list, seen.current)) void refetch({ cancelRefetch: false })
  }, [list, refetch])
  useEffect(() => check(), [check])
  return {
    read,
    /** Tells what is near the screen, and has it read. */
    look: useCallback(
      (now: OnScreen) => {
        seen.current = now
        check()
      },
      [check],
    ),
  }
}
