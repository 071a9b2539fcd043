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

const useScrolled = (ref: { current: HTMLElement | null }) => {
  const [seen, setSeen] = useState({ top: 0, height: 800 })
  const read = useCallback(() => {
    const { scrollTop: top, clientHeight: height } = ref.current!
    setSeen((before) => (before.top === top && before.height === height ? before : { top, height }))
  }, [ref])
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
  return { seen, read }
}

interface Drawn {
  ref: { current: HTMLElement | null }
  lines: readonly ListLine[]
  entries: readonly InboxEntry[]
}

/** Rows above the screen that come or go do not move those on it. */
const useSteady = ({ ref, lines, entries }: Drawn, scrolled: () => void): void => {
  const before = useRef({ lines, entries })
  useLayoutEffect(() => {
    const element = ref.current!
    const shift = shiftOf(before.current, { lines, entries }, element.scrollTop)
    before.current = { lines, entries }
    if (shift === 0) return
    element.scrollTop += shift
    scrolled()
  }, [ref, lines, entries, scrolled])
}

/** Brings a row onto the screen as it is chosen. */
const useChosenInView = ({ ref, lines, entries }: Drawn, chosen: string | undefined): void => {
  const place = chosen === undefined ? -1 : entries.findIndex(({ id }) => id === chosen)
  const isThere = place !== -1
  const latest = useRef<ListLine>(undefined)
  latest.current = isThere ? lines.find(({ index }) => index === place) : undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: what others do does not move the list
  useEffect(() => {
    const [line, element] = [latest.current, ref.current]
    if (!line || !element) return
    const [from, to] = [line.top - WIDE.heading, line.top + line.height + 8]
    if (from < element.scrollTop) element.scrollTop = from
    else if (to > element.scrollTop + element.clientHeight)
      element.scrollTop = to - element.clientHeight
  }, [ref, chosen, isThere])
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
  const { seen, read } = useScrolled(ref)
  const picked = useStore(selection)
  const tellsAccount = useHasSeveralAccounts()
  const lines = useMemo(() => linesOf(groups, WIDE), [groups])
  const drawn = linesWithin(lines, { ...seen, beyond: BEYOND })
  useSteady({ ref, lines, entries }, read)
  useChosenInView({ ref, lines, entries }, chosen)
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
