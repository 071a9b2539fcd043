/** The list of what waits. Only the rows on the screen are in the page, however many wait. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useStore } from '../parts/store.ts'
import type { InboxEntry } from './entries.ts'
import { Row } from './row.tsx'
import { selection } from './selection.ts'
import { type Heights, heightOf, type ListLine, linesOf, linesWithin } from './window.ts'

const WIDE: Heights = { row: 60, heading: 34 }
const BEYOND = 400
/** The next page is asked for as soon as this many rows are left. */
const AHEAD = 30

interface ListProps {
  entries: readonly InboxEntry[]
  groups: readonly (string | undefined)[]
  chosen: number | undefined
  choose(entry: InboxEntry): void
  /** Asks for the next page. */
  more: (() => void) | undefined
}

const useScrolled = (ref: { current: HTMLElement | null }) => {
  const [seen, setSeen] = useState({ top: 0, height: 800 })
  useLayoutEffect(() => {
    const element = ref.current!
    const read = () => setSeen({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(read)
    observer.observe(element)
    element.addEventListener('scroll', read, { passive: true })
    read()
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', read)
    }
  }, [ref])
  return seen
}

/** Keeps the chosen row on the screen. */
const useChosenInView = (
  ref: { current: HTMLElement | null },
  lines: readonly ListLine[],
  chosen: number | undefined,
): void => {
  useEffect(() => {
    const line = lines.find(({ index }) => index !== undefined && index === chosen)
    const element = ref.current
    if (!line || !element) return
    const [from, to] = [line.top - WIDE.heading, line.top + line.height + 8]
    if (from < element.scrollTop) element.scrollTop = from
    else if (to > element.scrollTop + element.clientHeight)
      element.scrollTop = to - element.clientHeight
  }, [ref, lines, chosen])
}

const at = ({ top, height }: ListLine) => ({ transform: `translateY(${top}px)`, height })

export const List = ({ entries, groups, chosen, choose, more }: ListProps) => {
  const ref = useRef<HTMLDivElement>(null)
  const seen = useScrolled(ref)
  const picked = useStore(selection)
  const lines = useMemo(() => linesOf(groups, WIDE), [groups])
  const drawn = linesWithin(lines, { ...seen, beyond: BEYOND })
  const last = drawn.findLast(({ index }) => index !== undefined)?.index ?? 0
  useChosenInView(ref, lines, chosen)
  useEffect(() => {
    if (more && last >= entries.length - AHEAD) more()
  }, [more, last, entries.length])
  return (
    <div className="list" ref={ref}>
      <ul aria-label="What waits" style={{ height: heightOf(lines) }}>
        {drawn.map((line) =>
          line.index === undefined ? (
            <li key={`of ${line.heading}`} className="group" style={at(line)}>
              {line.heading}
            </li>
          ) : (
            <li
              key={entries[line.index]!.id}
              style={at(line)}
              aria-setsize={entries.length}
              aria-posinset={line.index + 1}
            >
              <Row
                entry={entries[line.index]!}
                isChosen={line.index === chosen}
                isSelected={picked.has(entries[line.index]!.id)}
                choose={choose}
              />
            </li>
          ),
        )}
      </ul>
    </div>
  )
}
