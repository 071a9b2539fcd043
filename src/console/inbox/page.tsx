/** The inbox: all that waits for this person, and one of it. */
import { Suspense, useCallback, useEffect, useMemo } from 'react'
import { pageTitle, waitingCount } from '../frame/waiting.ts'
import { useShortcut } from '../keys/use-keys.ts'
import { KeyCaps } from '../parts/key-caps.tsx'
import { Bones, Empty, ReadView } from '../parts/states.tsx'
import { useStore } from '../parts/store.ts'
import type { PageProps } from '../router/page-props.ts'
import { useCalendar } from './draft/use-slots.ts'
import { FilterBar } from './filters.tsx'
import { FollowedCalls } from './followed-calls.tsx'
import { List } from './list.tsx'
import { NothingWaits } from './nothing-waits.tsx'
import { panes } from './panes.tsx'
import { Selected } from './selected.tsx'
import { clearSelection, isSelectable, select, selection, toggleSelected } from './selection.ts'
import { type Inbox, useInbox } from './use-inbox.ts'
import { groupOf } from './words.ts'
import { WriteOne } from './write-one.tsx'

const useInboxKeys = ({ move, close, chosen }: Inbox, isSelection: boolean): void => {
  const entry = chosen?.entry
  const extend = (steps: number) => () => {
    if (entry) select(entry)
    move(steps)
  }
  useShortcut('next', () => move(1))
  useShortcut('previous', () => move(-1))
  useShortcut('select', entry && isSelectable(entry) ? () => toggleSelected(entry) : undefined)
  useShortcut('selectNext', extend(1))
  useShortcut('selectPrevious', extend(-1))
  useShortcut('back', isSelection ? clearSelection : chosen && close)
}

const Waiting = ({ inbox }: { inbox: Inbox }) => {
  const { read, entries, chosen, choose, total } = inbox
  const groups = useMemo(() => entries.map(groupOf), [entries])
  const more = useCallback(() => void read.fetchNextPage(), [read.fetchNextPage])
  return (
    <section className="inbox-list" aria-label="The list">
      <div className="page-head">
        <span className="head-title">Inbox</span>
        <span className="soft">{total} waiting</span>
      </div>
      <FilterBar inbox={inbox} />
      <FollowedCalls />
      <ReadView read={read} what="The inbox" lines={8}>
        {entries.length === 0 ? (
          <NothingWaits isFiltered={Boolean(inbox.filters.q || inbox.filters.kind)} />
        ) : (
          <List
            entries={entries}
            groups={groups}
            chosen={chosen?.place}
            choose={choose}
            more={read.hasNextPage && !read.isFetchingNextPage ? more : undefined}
          />
        )}
      </ReadView>
    </section>
  )
}

const Chosen = ({ inbox }: { inbox: Inbox }) => {
  const { chosen, close, total, next } = inbox
  if (!chosen) return <Empty title="Choose what to decide" />
  const Pane = panes[chosen.kind]
  return (
    <>
      <div className="page-head">
        <button type="button" className="to-list" onClick={close}>
          ‹ Inbox
        </button>
        <span className="soft">
          {chosen.place === undefined ? 'Not in this list' : `${chosen.place + 1} of ${total}`}
        </span>
        <span className="head-keys soft" aria-hidden="true">
          <KeyCaps of="next" /> <KeyCaps of="previous" /> move <KeyCaps of="help" /> keys
        </span>
      </div>
      <Suspense fallback={<Bones />}>
        {Pane ? (
          <Pane key={chosen.id} id={chosen.id} entry={chosen.entry} next={next} />
        ) : (
          <Empty title="Nothing is here" />
        )}
      </Suspense>
    </>
  )
}

export const InboxPage = ({ here }: PageProps) => {
  useCalendar()
  const inbox = useInbox(here)
  const together = [...useStore(selection).values()]
  useInboxKeys(inbox, together.length > 0)
  useEffect(() => pageTitle.set('Inbox'), [])
  const waiting = inbox.counts.reduce((sum, { count }) => sum + count, 0)
  const isWhole = inbox.filters.q === undefined
  useEffect(() => {
    if (isWhole) waitingCount.set(waiting)
  }, [isWhole, waiting])
  return (
    <div className={`inbox ${inbox.chosen || together.length > 0 ? 'has-chosen' : ''}`}>
      <h1 className="unseen">Inbox</h1>
      <WriteOne />
      <Waiting inbox={inbox} />
      <section className="inbox-pane" aria-label="What is chosen">
        {together.length > 0 ? <Selected entries={together} /> : <Chosen inbox={inbox} />}
      </section>
    </div>
  )
}
