/** What waits for this person, page by page, with its counts. */
import { useInfiniteQuery } from '@tanstack/react-query'
import type { AnswerOf } from '../api/operations.ts'
import { callOperation } from '../api/request.ts'

type Item = AnswerOf<'growth.items.list'>['items'][number]

export const entryKinds = ['draft', 'article'] as const
export type EntryKind = (typeof entryKinds)[number]

export interface InboxEntry {
  kind: EntryKind
  id: string
  /** The first line of the text. */
  title: string
  /** What asked for it, for the heading of its group. */
  source: string | undefined
  hook: string | null
  length: number | null
  revision: number | null
  content_hash: string | null
  warnings: number
  created_at: string
}

export interface Filters {
  kind?: EntryKind | undefined
  q?: string | undefined
}

const PAGE = 100

const entryOf = (item: Item): InboxEntry => ({
  kind: item.kind === 'article' ? 'article' : 'draft',
  id: item.id,
  title: item.title ?? item.body.split('\n', 1)[0] ?? '',
  source: undefined,
  hook: item.hook,
  length: item.length,
  revision: item.revision,
  content_hash: item.content_hash,
  warnings: item.warnings.length,
  created_at: item.created_at,
})

const ENTRIES = 'growth.items.list'

export const useEntries = ({ kind, q }: Filters) =>
  useInfiniteQuery({
    queryKey: [ENTRIES, { kind, q }],
    queryFn: async ({ pageParam, signal }) => {
      const input = {
        status: 'drafted' as const,
        limit: PAGE,
        ...(kind && { kind: kind === 'article' ? ('article' as const) : ('post' as const) }),
        ...(q !== undefined && { q }),
        ...(pageParam !== undefined && { cursor: pageParam }),
        total: true,
      }
      const { items, next_cursor, total } = await callOperation('growth.items.list', input, {
        signal,
      })
      return { entries: items.map(entryOf), next: next_cursor, total: total ?? 0 }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  })
