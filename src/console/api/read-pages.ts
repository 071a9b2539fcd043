/** Lists that are read page by page. */
import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query'
import type { AnswerOf, InputOf, ReadId } from './operations.ts'
import { callOperation } from './request.ts'

interface Cursors {
  next_cursor?: string | null
  nextCursor?: string | null
}

interface PagesOptions<Page> {
  /** Milliseconds until it is read again, while what is shown is about to change; or false. */
  again?: ((pages: Page[]) => number | false) | undefined
}

export type ReadPages<Page> = UseInfiniteQueryResult<InfiniteData<Page>>

/** Without `cursor` in the input: the pages that were opened are read one after another. */
export const useReadPages = <Id extends ReadId>(
  id: Id,
  input: InputOf<Id>,
  { again }: PagesOptions<AnswerOf<Id>> = {},
): ReadPages<AnswerOf<Id>> =>
  useInfiniteQuery({
    queryKey: [id, input, 'pages'],
    queryFn: ({ pageParam, signal }) => {
      const asked = { ...(input as object), ...(pageParam !== undefined && { cursor: pageParam }) }
      return callOperation(id, asked as InputOf<Id>, { signal })
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: unknown) => {
      const { next_cursor, nextCursor } = page as Cursors
      return next_cursor ?? nextCursor ?? undefined
    },
    refetchInterval: ({ state }) => again?.((state.data?.pages ?? []) as AnswerOf<Id>[]) ?? false,
  }) as never
