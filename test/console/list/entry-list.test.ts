/** What is known of a long list while others change it. */
import { expect, test } from 'bun:test'
import type { InboxEntry } from '#src/console/inbox/entries'
import {
  type EntryList,
  entriesIn,
  isDue,
  type OnScreen,
  readEntries,
} from '#src/console/inbox/entry-list'

const PAGE = 100

/** A server whose list is in the order of numbers; a cursor is the last number of a page. */
const serverOf = (count: number) => {
  let waiting = Array.from({ length: count }, (_, index) => index)
  const versions = new Map<number, number>()
  let reads = 0
  const entryOf = (number: number) =>
    ({ kind: 'draft', id: `${number}`, revision: versions.get(number) ?? 1 }) as InboxEntry
  return {
    all: () => waiting.map(entryOf),
    change: (number: number) => versions.set(number, (versions.get(number) ?? 1) + 1),
    decide: (gone: (number: number) => boolean) => {
      waiting = waiting.filter((number) => !gone(number))
    },
    add: (...numbers: number[]) => {
      waiting = [...new Set([...waiting, ...numbers])].sort((a, b) => a - b)
    },
    /** How many reads there were since the last time. */
    reads: () => {
      const found = reads
      reads = 0
      return found
    },
    read: async (cursor: string | undefined) => {
      reads++
      const left = waiting.filter((number) => cursor === undefined || number > Number(cursor))
      const entries = left.slice(0, PAGE)
      return {
        entries: entries.map(entryOf),
        counts: { draft: waiting.length } as never,
        next_cursor: left.length > PAGE ? `${entries.at(-1)}` : null,
      }
    },
  }
}

type Server = ReturnType<typeof serverOf>

const ROWS = 30

/** What is drawn of the list from this row on. */
const seenFrom = (list: EntryList, row: number): OnScreen => {
  const entries = entriesIn(list)
  const from = Math.min(row, Math.max(0, entries.length - ROWS))
  const drawn = entries.slice(from, from + ROWS)
  return {
    first: drawn[0]?.id,
    last: drawn.at(-1)?.id,
    isEnd: from + ROWS >= entries.length - ROWS,
  }
}

/** Shows the rows from this one on until nothing there has to be read. */
const show = async (server: Server, list: EntryList, row: number): Promise<EntryList> => {
  let now = list
  for (let steps = 0; isDue(now, seenFrom(now, row)); steps++) {
    expect(steps).toBeLessThan(10)
    now = await readEntries({ list: now, isOld: false, seen: seenFrom(now, row) }, server.read)
  }
  return now
}

const scrolled = async (server: Server, rows: number): Promise<EntryList> => {
  const seen = { isEnd: true }
  let list = await readEntries(undefined, server.read)
  while (isDue(list, seen) && entriesIn(list).length < rows)
    list = await readEntries({ list, isOld: false, seen }, server.read)
  return list
}

const hinted = (server: Server, list: EntryList, row: number): Promise<EntryList> =>
  readEntries({ list, isOld: true, seen: seenFrom(list, row) }, server.read)

const drawn = (list: EntryList, row: number): InboxEntry[] => {
  const { first } = seenFrom(list, row)
  const entries = entriesIn(list)
  const from = entries.findIndex(({ id }) => id === first)
  return entries.slice(from, from + ROWS)
}

test('a change costs the first page and those on the screen, however far one has scrolled', async () => {
  const server = serverOf(10_000)
  const list = await scrolled(server, 10_000)
  expect([server.reads(), entriesIn(list).length]).toEqual([100, 10_000])
  server.change(5_010)
  server.change(50)
  const after = await hinted(server, list, 5_000)
  expect(server.reads()).toBeLessThanOrEqual(3)
  const entries = entriesIn(after)
  expect([entries.length, entries[5_010]!.revision, entries[50]!.revision]).toEqual([10_000, 2, 2])
  expect(entries[5_011]).toBe(entriesIn(list)[5_011]!)
})

test('what is far is read again as it comes near, and shows nothing that is decided', async () => {
  const server = serverOf(2_000)
  const list = await scrolled(server, 2_000)
  server.decide((number) => number % 7 === 0)
  const after = await hinted(server, list, 1_900)
  const back = await show(server, after, 700)
  const shown = drawn(back, 700).map(({ id }) => Number(id))
  expect(shown.filter((number) => number % 7 === 0)).toEqual([])
  expect(shown).toEqual(
    server
      .all()
      .map(({ id }) => Number(id))
      .filter((one) => one >= shown[0]!)
      .slice(0, ROWS),
  )
})

/** A small generator, so that a failure can be repeated. */
const numbersFrom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return state % below
  }
}

test('whatever others add, change and decide, what is on the screen is as at the server', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = numbersFrom(seed)
    const server = serverOf(900)
    server.decide((number) => number % 3 === 0)
    let list = await scrolled(server, 400)
    for (let step = 0; step < 25; step++) {
      const at = random(900)
      if (step % 4 === 0) server.add(...Array.from({ length: random(130) }, (_, n) => at + n))
      if (step % 4 === 1) server.decide((number) => number > at && number < at + random(260))
      if (step % 4 === 2) server.change(at)
      const row = random(600)
      list = await show(server, await hinted(server, list, random(600)), row)
      const shown = drawn(list, row)
      const all = server.all()
      const from = all.findIndex(({ id }) => id === shown[0]?.id)
      expect([seed, step, shown]).toEqual([
        seed,
        step,
        from === -1 ? [] : all.slice(from, from + shown.length),
      ])
      if (list.pages.at(-1)!.next === null && !list.pages.some(({ isStale }) => isStale))
        expect(entriesIn(list)).toEqual(all)
    }
    // From the top to the end, all is there again, once.
    list = await hinted(server, list, 0)
    for (let row = 0; row < 1_100; row += ROWS) list = await show(server, list, row)
    expect([seed, entriesIn(list)]).toEqual([seed, server.all()])
  }
})
