/** The inbox as one object: the list, what is chosen and selected in it, and how to move. */
import { useCallback, useMemo, useState } from 'react'
import { choiceIn, hrefOf } from '../router/paths.ts'
import { type Here, navigate } from '../router/router.tsx'
import { type EntryKind, entryKinds, type InboxEntry, useEntries } from './entries.ts'

/** The filters stand in the address, so that a reload and a link keep them. */
const filtersIn = ({ search }: Here) => ({
  kind: choiceIn(search, 'show', entryKinds),
  q: search.get('q') ?? undefined,
})

export const useInbox = (here: Here) => {
  const filters = filtersIn(here)
  const read = useEntries(filters)
  const entries = useMemo(() => read.data?.pages.flatMap((page) => page.entries) ?? [], [read.data])
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const { kind, id } = here.place?.params ?? {}
  const found = entries.findIndex((entry) => entry.id === id)
  const place = found === -1 ? undefined : found
  const search = { show: filters.kind, q: filters.q }
  const choose = useCallback(
    (entry: InboxEntry) =>
      navigate(
        hrefOf('entry', { kind: entry.kind, id: entry.id }, { show: filters.kind, q: filters.q }),
      ),
    [filters.kind, filters.q],
  )
  const move = (steps: number): void => {
    const to = entries[Math.min(Math.max((place ?? -1) + steps, 0), entries.length - 1)]
    if (to) choose(to)
  }
  return {
    filters,
    read,
    entries,
    total: read.data?.pages[0]?.total ?? 0,
    chosen: kind && id ? { kind: kind as EntryKind, id, entry: entries[found], place } : undefined,
    selected,
    setSelected,
    choose,
    move,
    close: () => navigate(hrefOf('inbox', {}, search)),
    filter: (next: { kind?: EntryKind | undefined; q?: string | undefined }) =>
      navigate(hrefOf('inbox', {}, { show: next.kind, q: next.q })),
  }
}

export type Inbox = ReturnType<typeof useInbox>
