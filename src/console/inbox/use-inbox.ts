/** The inbox as one object: the list, what is chosen in it, and how to move. */
import { useCallback, useMemo } from 'react'
import { useStore } from '../parts/store.ts'
import { choiceIn, hrefOf } from '../router/paths.ts'
import { type Here, navigate } from '../router/router.tsx'
import { type EntryKind, type Filters, type InboxEntry, useEntries } from './entries.ts'
import { hidden } from './hidden.ts'
import { shownKinds } from './words.ts'

/** The filters stand in the address, so that a reload and a link keep them. */
const filtersIn = ({ search }: Here): Filters => ({
  kind: choiceIn(search, 'show', shownKinds),
  q: search.get('q') ?? undefined,
})

const searchOf = ({ kind, q }: Filters) => ({ show: kind, q })

/** The loaded entries and the counts, without what was just decided here. */
const useShown = ({ data }: ReturnType<typeof useEntries>) => {
  const gone = useStore(hidden)
  return useMemo(() => {
    const all = data?.pages.flatMap((page) => page.entries) ?? []
    const left = all.filter(({ id }) => gone.has(id))
    const counts = shownKinds.map((kind) => ({
      kind,
      count: (data?.pages[0]?.counts[kind] ?? 0) - left.filter((one) => one.kind === kind).length,
    }))
    return { entries: all.filter(({ id }) => !gone.has(id)), counts }
  }, [data, gone])
}

const addressOf = (entry: InboxEntry | undefined, filters: Filters): string =>
  entry
    ? hrefOf('entry', { kind: entry.kind, id: entry.id }, searchOf(filters))
    : hrefOf('inbox', {}, searchOf(filters))

export const useInbox = (here: Here) => {
  const filters = filtersIn(here)
  const { kind: show, q } = filters
  const read = useEntries(filters)
  const { entries, counts } = useShown(read)
  const { kind, id } = here.place?.params ?? {}
  const found = entries.findIndex((entry) => entry.id === id)
  const place = found === -1 ? undefined : found
  const choose = useCallback(
    (entry: InboxEntry) => navigate(addressOf(entry, { kind: show, q })),
    [show, q],
  )
  return {
    filters,
    read,
    entries,
    counts,
    /** Of the kinds that are shown. */
    total: counts.reduce((sum, one) => sum + (!show || one.kind === show ? one.count : 0), 0),
    chosen: kind && id ? { kind: kind as EntryKind, id, entry: entries[found], place } : undefined,
    choose,
    move(steps: number) {
      const to = entries[Math.min(Math.max((place ?? -1) + steps, 0), entries.length - 1)]
      if (to) choose(to)
    },
    /** To the entry after this one, which leaves; to the one before it if it was the last. */
    next() {
      const to = place === undefined ? undefined : (entries[place + 1] ?? entries[place - 1])
      navigate(addressOf(to, filters), { replace: true })
    },
    close: () => navigate(addressOf(undefined, filters)),
    filter: (next: Filters) => navigate(addressOf(undefined, next), { replace: true }),
  }
}

export type Inbox = ReturnType<typeof useInbox>
