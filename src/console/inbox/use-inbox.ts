/** The inbox as one object: the list, or a batch side by side, what is chosen, how to move. */
import { useCallback, useMemo, useRef } from 'react'
import { isMany } from '../parts/many.ts'
import { useStore } from '../parts/store.ts'
import { choiceIn, hrefOf, idIn } from '../router/paths.ts'
import { type Here, navigate } from '../router/router.tsx'
import { useBatch } from './batch/use-batch.ts'
import type { EntryKind, Filters, InboxEntry } from './entries.ts'
import { type EntryList, entriesIn } from './entry-list.ts'
import { hidden } from './hidden.ts'
import { useEntries } from './use-entries.ts'
import { useReadAhead } from './use-read-ahead.ts'
import { shownKinds, shownSources } from './words.ts'

/** The filters stand in the address, so that a reload and a link keep them. */
const filtersIn = ({ search }: Here): Filters => ({
  kind: choiceIn(search, 'show', shownKinds),
  q: search.get('q') ?? undefined,
  account: idIn(search, 'account'),
  source: choiceIn(search, 'source', shownSources),
})

/** The same object for as long as they are the same. */
const useFilters = (here: Here): Filters => {
  const { kind, q, account, source } = filtersIn(here)
  return useMemo(() => ({ kind, q, account, source }), [kind, q, account, source])
}

type Chosen = Pick<InboxEntry, 'kind' | 'id'>

/** `batch`: the one that is shown side by side. */
const addressOf = (
  chosen: Chosen | undefined,
  { kind: show, ...filters }: Filters,
  batch?: string,
): string => {
  const search = { show, ...filters, batch }
  return chosen
    ? hrefOf('entry', { kind: chosen.kind, id: chosen.id }, search)
    : hrefOf('inbox', {}, search)
}

/** The loaded entries and the counts, without what was just decided here. */
const useShown = (list: EntryList | undefined) => {
  const gone = useStore(hidden)
  return useMemo(() => {
    const all = list ? entriesIn(list) : []
    const left = gone.size === 0 ? [] : all.filter(({ id }) => gone.has(id))
    const counts = shownKinds.map((kind) => {
      const count = list?.counts[kind] ?? 0
      const decided = left.filter((one) => one.kind === kind).length
      return { kind, count: isMany(count) ? count : count - decided }
    })
    return { entries: left.length === 0 ? all : all.filter(({ id }) => !gone.has(id)), counts }
  }, [list, gone])
}

const placeIn = (entries: readonly Chosen[], id: string | undefined): number | undefined => {
  if (id === undefined) return undefined
  const found = entries.findIndex((entry) => entry.id === id)
  return found === -1 ? undefined : found
}

const useList = (here: Here) => {
  const filters = useFilters(here)
  const { read, look } = useEntries(filters)
  const { entries, counts } = useShown(read.data)
  const total = counts.reduce(
    (sum, { kind, count }) => sum + (!filters.kind || kind === filters.kind ? count : 0),
    0,
  )
  return { filters, read, look, entries, counts, total }
}

const batchOf = (entry: InboxEntry | undefined): string | undefined =>
  entry?.source?.kind === 'batch' ? (entry.source.id ?? undefined) : undefined

export const useInbox = (here: Here) => {
  const list = useList(here)
  const { filters, entries } = list
  const batch = useBatch(idIn(here.search, 'batch'))
  /** What is moved through. */
  const walked: readonly Chosen[] = batch ? batch.cards : entries
  const { kind, id } = here.place?.params ?? {}
  const entry = entries[placeIn(entries, id) ?? -1]
  const place = placeIn(walked, id)
  useReadAhead(walked, place)
  /** Where the list was left for the batch. */
  const left = useRef<Chosen>(undefined)
  const side = batch?.id
  const choose = useCallback(
    (chosen: Chosen) => navigate(addressOf(chosen, filters, side)),
    [filters, side],
  )
  const beside = batchOf(entry)
  const leave = () => {
    const back = place ?? placeIn(walked, left.current?.id)
    navigate(addressOf(back === undefined ? undefined : walked[back], filters))
  }
  const enter = (of: string) => {
    left.current = entry
    navigate(addressOf(undefined, filters, of))
  }
  return {
    ...list,
    batch,
    /** Of what is moved through. */
    total: batch ? batch.cards.length : list.total,
    chosen: kind && id ? { kind: kind as EntryKind, id, entry, place } : undefined,
    choose,
    move(steps: number) {
      const to = walked[Math.min(Math.max((place ?? -1) + steps, 0), walked.length - 1)]
      if (to) choose(to)
    },
    /** To the one after this one, which leaves; to the one before it if it was the last. */
    next() {
      const to = place === undefined ? undefined : (walked[place + 1] ?? walked[place - 1])
      navigate(addressOf(to, filters, side), { replace: true })
    },
    close: () => navigate(addressOf(undefined, filters, side)),
    /** From a draft to its batch, and back; undefined where there is none. */
    sideBySide: batch ? leave : beside === undefined ? undefined : () => enter(beside),
    leaveToList: () => navigate(addressOf(undefined, filters)),
    filter: (next: Filters) => navigate(addressOf(undefined, next), { replace: true }),
  }
}

export type Inbox = ReturnType<typeof useInbox>
