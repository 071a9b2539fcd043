/** The list of what waits. Only the rows on the screen are in the page, however many wait. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useStore } from '../parts/store.ts'
import { useHasSeveralAccounts } from './accounts.ts'
import type { InboxEntry } from './entries.ts'
import type { OnScreen } from './entry-list.ts'
import { Row } from './row.tsx'
import { selection } from './selection.ts'
import { type Heights, heightOf, type ListLine, linesOf, linesWithin, shiftOf } from './window.ts'

const WIDE: Heights = { row: 60, heading: 34 }
const BEYOND = 400
/** The end is near as soon as this many rows are left. */
const AHEAD = 30

interface ListProps {
  entries: readonly InboxEntry[]
  groups: readonly (string | undefined)[]
  /** Its id. */
  chosen: string | undefined
  choose(entry: InboxEntry): void
  /** Is told what is on the screen. */
  look(seen: OnScreen): void
}

interface Seen {
  top: number
  height: number
}

interface Scrolled {
  seen: Seen
  /** The same, as last read: asking the element has the browser lay out the page at once. */
  last: { readonly current: Seen }
  scrollTo(top: number): void
}

const useScrolled = (ref: { current: HTMLElement | null }): Scrolled => {
  const [seen, setSeen] = useState({ top: 0, height: 800 })
  const last = useRef(seen)
  const read = useCallback(() => {
    const { scrollTop: top, clientHeight: height } = ref.current!
    if (last.current.top === top && last.current.height === height) return
    last.current = { top, height }
    setSeen(last.current)
  }, [ref])
  const scrollTo = useCallback(
    (top: number) => {
      ref.current!.scrollTop = top
      read()
    },
    [ref, read],
  )
  useLayoutEffect(() => {
    const element = ref.current!
    const observer = new ResizeObserver(read)
    observer.observe(element)
    element.addEventListener('scroll', read, { passive: true })
    read()
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', read)
    }
  }, [ref, read])
  return { seen, last, scrollTo }
}

interface Drawn {
  lines: readonly ListLine[]
  entries: readonly InboxEntry[]
}

/** Rows above the screen that come or go do not move those on it. */
const useSteady = ({ lines, entries }: Drawn, { last, scrollTo }: Scrolled): void => {
  const before = useRef({ lines, entries })
  useLayoutEffect(() => {
    const { top } = last.current
    const shift = shiftOf(before.current, { lines, entries }, top)
    before.current = { lines, entries }
    if (shift !== 0) scrollTo(top + shift)
  }, [lines, entries, last, scrollTo])
}

/** Brings a row onto the screen as it is chosen. */
const useChosenInView = (
  { lines, entries }: Drawn,
  chosen: string | undefined,
  { last, scrollTo }: Scrolled,
): void => {
  const place = chosen === undefined ? -1 : entries.findIndex(({ id }) => id === chosen)
  const isThere = place !== -1
  const latest = useRef<ListLine>(undefined)
  latest.current = isThere ? lines.find(({ index }) => index === place) : undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: what others do does not move the list
  useEffect(() => {
    const line = latest.current
    if (!line) return
    const { top, height } = last.current
    const [from, to] = [line.top - WIDE.heading, line.top + line.height + 8]
    if (from < top) scrollTo(Math.max(from, 0))
    else if (to > top + height) scrollTo(to - height)
  }, [chosen, isThere, last, scrollTo])
}

/** Tells what is near the screen, by the ids at its ends. */
const useLook = (
  { look, entries, chosen }: Pick<ListProps, 'look' | 'entries' | 'chosen'>,
  drawn: readonly ListLine[],
): void => {
  const rows = drawn.flatMap(({ index }) => (index === undefined ? [] : [index]))
  const [from, to] = [rows[0], rows.at(-1)]
  const first = from === undefined ? undefined : entries[from]?.id
  const last = to === undefined ? undefined : entries[to]?.id
  const isEnd = (to ?? 0) >= entries.length - AHEAD
  useEffect(() => {
    look({ first, last, chosen, isEnd })
    return () => look({ isEnd: false })
  }, [look, first, last, chosen, isEnd])
}

const at = ({ top, height }: ListLine) => ({ transform: `translateY(${top}px)`, height })

export const List = ({ entries, groups, chosen, choose, look }: ListProps) => {
  const ref = useRef<HTMLDivElement>(null)
  const scrolled = useScrolled(ref)
  const picked = useStore(selection)
  const tellsAccount = useHasSeveralAccounts()
  const lines = useMemo(() => linesOf(groups, WIDE), [groups])
  const drawn = linesWithin(lines, { ...scrolled.seen, beyond: BEYOND })
  useSteady({ lines, entries }, scrolled)
  useChosenInView({ lines, entries }, chosen, scrolled)
  useLook({ look, entries, chosen }, drawn)
  const item = (index: number) => {
    const entry = entries[index]!
    return (
      <Row
        entry={entry}
        isChosen={entry.id === chosen}
        isSelected={picked.has(entry.id)}
        tellsAccount={tellsAccount}
        choose={choose}
      />
    )
  }
  return (
    <div className="list" ref={ref}>
      <ul aria-label="What waits" style={{ height: heightOf(lines) }}>
        {drawn.map((line) =>
          line.index === undefined ? (
            <li key={`${line.heading} ${line.top}`} className="group" style={at(line)}>
              <bdi>{line.heading}</bdi>
            </li>
          ) : (
            <li
              key={entries[line.index]!.id}
              style={at(line)}
              aria-setsize={entries.length}
              aria-posinset={line.index + 1}
            >
              {item(line.index)}
            </li>
          ),
        )}
      </ul>
    </div>
  )
}
