/**
 * What is known of a long list: the pages that were read. Each begins where the one before it ends.
 * When something has changed, only the first page, which has the counts, and those near the screen
 * are read again; the others are read again once they come near it.
 */
import { replaceEqualDeep } from '@tanstack/react-query'
import type { AnswerOf } from '../api/operations.ts'
import type { InboxEntry } from './entries.ts'

type Answer = AnswerOf<'agent.inbox.list'>

interface ListPage {
  /** Where it begins; undefined: at the top. */
  cursor: string | undefined
  /** Where the next one begins; null: the list ends. */
  next: string | null
  entries: readonly InboxEntry[]
  /** Something may have changed since it was read. */
  isStale: boolean
}

export interface EntryList {
  /** At least one. */
  pages: readonly ListPage[]
  counts: Answer['counts']
}

/** What is near the screen. */
export interface OnScreen {
  /** The ids of the first and the last entry that is drawn; undefined: none is. */
  first?: string | undefined
  last?: string | undefined
  /** The id of the chosen one. */
  chosen?: string | undefined
  /** Whether the end of what was read is near. */
  isEnd: boolean
}

export type ReadPage = (cursor: string | undefined) => Promise<Answer>

/** The ids of a page's entries: a long list is looked through at every turn. */
const idsKnown = new WeakMap<readonly InboxEntry[], ReadonlySet<string>>()

const idsOf = (entries: readonly InboxEntry[]): ReadonlySet<string> => {
  const ids = idsKnown.get(entries) ?? new Set(entries.map(({ id }) => id))
  idsKnown.set(entries, ids)
  return ids
}

const keyOf = ({ kind, id }: InboxEntry): string => `${kind} ${id}`

/** The places of the pages near the screen, in order. */
const pagesSeen = ({ pages }: EntryList, { first, last, chosen }: OnScreen): number[] => {
  const placeOf = (id: string | undefined): number =>
    id === undefined ? -1 : pages.findIndex(({ entries }) => idsOf(entries).has(id))
  const ends = [placeOf(first), placeOf(last)].filter((place) => place !== -1)
  const [from, to] = [Math.min(...ends), Math.max(...ends)]
  const other = placeOf(chosen)
  return [...pages.keys()].filter((place) => (from <= place && place <= to) || place === other)
}

const hasMore = ({ pages }: EntryList): boolean => pages.at(-1)!.next !== null

/** Whether something that is near the screen has to be read. */
export const isDue = (list: EntryList, seen: OnScreen): boolean =>
  (seen.isEnd && hasMore(list)) || pagesSeen(list, seen).some((index) => list.pages[index]!.isStale)

/** Entries that have not changed stay the same objects, so that their rows are not drawn again. */
const shared = (before: ReadonlyMap<string, InboxEntry>, entries: readonly InboxEntry[]) =>
  entries.map((entry) => {
    const known = before.get(keyOf(entry))
    return known ? replaceEqualDeep(known, entry) : entry
  })

/** The pages after one that was just read, without what that has; they begin where it ends. */
const rest = (later: readonly ListPage[], { entries, next: cursor }: ListPage): ListPage[] => {
  if (cursor === null) return []
  const has = new Set(entries.map(keyOf))
  const isMet = (one: InboxEntry): boolean => has.has(keyOf(one))
  const met = later.findLastIndex((page) => page.entries.some(isMet))
  const [first, ...others] = later.slice(Math.max(met, 0))
  if (!first) return []
  const left = first.entries.slice(first.entries.findLastIndex(isMet) + 1)
  // Else something new may stand where this page ends.
  const end = entries.at(-1) && keyOf(entries.at(-1)!)
  const isExact =
    met === -1 ? first.cursor === cursor : first.entries.some((one) => keyOf(one) === end)
  const begins = ({ isStale, ...page }: ListPage): ListPage => ({
    ...page,
    cursor,
    isStale: isStale || !isExact,
  })
  if (left.length > 0) return [begins({ ...first, entries: left }), ...others]
  return others[0] ? [begins(others[0]), ...others.slice(1)] : []
}

interface Reading {
  list: EntryList
  /** Whether what is known may be old, all of it. */
  isOld: boolean
  seen: OnScreen
}

const again = ({ list, isOld }: Reading): EntryList =>
  isOld ? { ...list, pages: list.pages.map((page) => ({ ...page, isStale: true })) } : list

/** What was read of a page and of those beside it, to which its entries may have moved. */
const knownNear = ({ pages }: EntryList, index: number): Map<string, InboxEntry> => {
  const near = pages.slice(Math.max(index - 1, 0), index + 2)
  return new Map(near.flatMap(({ entries }) => entries.map((one) => [keyOf(one), one] as const)))
}

const NOTHING: EntryList = {
  pages: [{ cursor: undefined, next: null, entries: [], isStale: true }],
  counts: undefined as never,
}

/** Reads a page of the list, or the one after its last. */
const withPage = async (list: EntryList, index: number, read: ReadPage): Promise<EntryList> => {
  const cursor = index < list.pages.length ? list.pages[index]!.cursor : list.pages.at(-1)!.next!
  const answer = await read(cursor)
  const entries = shared(knownNear(list, index), answer.entries)
  const page = { cursor, next: answer.next_cursor, entries, isStale: false }
  const before = list.pages.slice(0, index)
  return {
    pages: [...before, page, ...rest(list.pages.slice(index + 1), page)],
    counts: replaceEqualDeep(list.counts, answer.counts),
  }
}

/** More pages than a screen has. */
const MOST_READS = 6

/** The list as it is now, as far as it is near the screen; `reading` undefined: from its start. */
export const readEntries = async (
  reading: Reading | undefined,
  read: ReadPage,
): Promise<EntryList> => {
  if (!reading) return withPage(NOTHING, 0, read)
  const { isOld, seen } = reading
  let list = again(reading)
  if (isOld) list = await withPage(list, 0, read)
  for (let reads = 0; reads < MOST_READS; reads++) {
    const stale = pagesSeen(list, seen).find((index) => list.pages[index]!.isStale)
    if (stale === undefined) break
    list = await withPage(list, stale, read)
  }
  if (seen.isEnd && hasMore(list)) list = await withPage(list, list.pages.length, read)
  return list
}

/** All entries, each once. */
export const entriesIn = ({ pages }: EntryList): InboxEntry[] => {
  const ids = new Set<string>()
  const isNew = ({ id }: InboxEntry): boolean => {
    const known = ids.size
    return ids.add(id).size > known
  }
  return pages.flatMap(({ entries }) => entries.filter(isNew))
}
