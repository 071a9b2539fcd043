/** Which of what waits is shown: by kind, and by words. */
import { useEffect, useRef, useState } from 'react'
import { useShortcut } from '../keys/use-keys.ts'
import { Icon } from '../parts/icons.tsx'
import type { Inbox } from './use-inbox.ts'
import { kindWords } from './words.ts'

const PAUSE_MS = 250
/** The server looks at no more. */
const LONGEST = 200

const Search = ({ inbox: { filters, filter } }: { inbox: Inbox }) => {
  const [typed, setTyped] = useState(filters.q ?? '')
  const field = useRef<HTMLInputElement>(null)
  const latest = useRef(filter)
  latest.current = filter
  useShortcut('search', () => field.current?.focus())
  useEffect(() => {
    const q = typed.trim() || undefined
    if (q === filters.q) return
    const timer = setTimeout(() => latest.current({ kind: filters.kind, q }), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed, filters.kind, filters.q])
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
      {shown.length > 1 && (
        <fieldset className="tabs">
          <legend className="unseen">Kind</legend>
          {[{ kind: undefined, count: all }, ...shown].map(({ kind, count }) => (
            <button
              key={kind ?? 'all'}
              type="button"
              aria-pressed={filters.kind === kind}
              onClick={() => filter({ kind, q: filters.q })}
            >
              {kind ? kindWords[kind].many : 'All'} <span className="soft">{count}</span>
            </button>
          ))}
        </fieldset>
      )}
    </div>
  )
}
