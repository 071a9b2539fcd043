/** Which of what waits is shown: by words, source, account and kind. */
import { useEffect, useRef, useState } from 'react'
import { useShortcut } from '../keys/use-keys.ts'
import { Icon } from '../parts/icons.tsx'
import { waitingWords } from '../parts/many.ts'
import { ChosenFilters } from './chosen-filters.tsx'
import type { Inbox } from './use-inbox.ts'
import { kindWords } from './words.ts'

const PAUSE_MS = 250
/** The server looks at no more. */
const LONGEST = 200

const Search = ({ inbox: { filters, filter } }: { inbox: Inbox }) => {
  const [typed, setTyped] = useState(filters.q ?? '')
  const field = useRef<HTMLInputElement>(null)
  const latest = useRef((_q: string | undefined) => {})
  latest.current = (q) => {
    if (q !== filters.q) filter({ ...filters, q })
  }
  useShortcut('search', () => field.current?.focus())
  useEffect(() => {
    // Cleared, or a step back.
    setTyped((now) => (now.trim() === (filters.q ?? '') ? now : (filters.q ?? '')))
  }, [filters.q])
  useEffect(() => {
    const timer = setTimeout(() => latest.current(typed.trim() || undefined), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <label className="search">
      <Icon name="search" />
      <span className="unseen">Search what waits</span>
      <input
        ref={field}
        type="search"
        name="q"
        autoComplete="off"
        placeholder="Search"
        maxLength={LONGEST}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onKeyDown={({ key }) => {
          if (key === 'Escape' || key === 'Enter') field.current?.blur()
        }}
      />
    </label>
  )
}

/** Kinds of which nothing waits are left out, but for the one that is shown. */
export const FilterBar = ({ inbox }: { inbox: Inbox }) => {
  const { filters, filter, counts } = inbox
  const shown = counts.filter(({ kind, count }) => count > 0 || kind === filters.kind)
  const all = counts.reduce((sum, { count }) => sum + count, 0)
  return (
    <div className="filters">
      <Search inbox={inbox} />
      <ChosenFilters inbox={inbox} />
      {shown.length > 1 && (
        <fieldset className="tabs">
          <legend className="unseen">Kind</legend>
          {[{ kind: undefined, count: all }, ...shown].map(({ kind, count }) => (
            <button
              key={kind ?? 'all'}
              type="button"
              aria-pressed={filters.kind === kind}
              onClick={() => filter({ ...filters, kind })}
            >
              {kind ? kindWords[kind].many : 'All'}{' '}
              <span className="soft">{waitingWords(count)}</span>
            </button>
          ))}
        </fieldset>
      )}
    </div>
  )
}
