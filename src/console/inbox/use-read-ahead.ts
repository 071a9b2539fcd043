/** What is next is read before it is chosen, so that nobody waits for it. */
import { useEffect } from 'react'
import type { ReadId } from '../api/operations.ts'
import { readAhead } from '../api/queries.ts'
import type { EntryKind } from './entries.ts'

const AHEAD = 3

/** What the panes of these kinds begin with. */
const READS = {
  draft: 'growth.items.get',
  article: 'growth.items.get',
  engagement: 'growth.engagements.get',
} as const satisfies Partial<Record<EntryKind, ReadId>>

const isRead = (kind: EntryKind): kind is keyof typeof READS => kind in READS

/** `place`: of the chosen entry; undefined: none is. */
export const useReadAhead = (
  entries: readonly { kind: EntryKind; id: string }[],
  place: number | undefined,
): void => {
  const from = place === undefined ? 0 : place + 1
  const next = entries.slice(from, from + AHEAD)
  const key = next.map(({ id }) => id).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, however often the list is read
  useEffect(() => {
    for (const { kind, id } of next) if (isRead(kind)) readAhead(READS[kind], { id })
  }, [key])
}
