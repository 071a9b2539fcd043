/** The inbox: all that waits for this person, and one of it. */
import {
  type ComponentProps,
  type ReactNode,
  Suspense,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { pageTitle, waitingCount } from '../frame/waiting.ts'
import { useShortcut } from '../keys/use-keys.ts'
import { KeyCaps } from '../parts/key-caps.tsx'
import { isMany, waitingWords } from '../parts/many.ts'
import { Bones, Empty, ReadView } from '../parts/states.tsx'
import { useStore } from '../parts/store.ts'
import { lazyPage } from '../router/lazy-page.tsx'
import type { PageProps } from '../router/page-props.ts'
import type { Cards } from './batch/cards.tsx'
import { clearFilters, isFiltered } from './chosen-filters.tsx'
import { useCalendar } from './draft/use-slots.ts'
import { FilterBar } from './filters.tsx'
import { FollowedCalls } from './followed-calls.tsx'
import { List } from './list.tsx'
import { NothingWaits } from './nothing-waits.tsx'
import { panes } from './panes.tsx'
import { Selected, SelectedBar } from './selected.tsx'
import {
  clearSelection,
  isSelectable,
  type SelectedDraft,
  select,
  selection,
  toggleSelected,
} from './selection.ts'
import { type Inbox, useInbox } from './use-inbox.ts'
import { groupOf } from './words.ts'
import { WriteOne } from './write-one.tsx'

const SideBySide = lazyPage<ComponentProps<typeof Cards>>(() =>
  import('./batch/cards.tsx').then(({ Cards: Show }) => Show),
)

/** What of the chosen one is selected. */
const selectableOf = ({ batch, chosen }: Inbox): SelectedDraft | undefined => {
  if (batch) return batch.cards[chosen?.place ?? -1]
  return chosen?.entry && isSelectable(chosen.entry) ? chosen.entry : undefined
}

const useInboxKeys = (inbox: Inbox, isSelection: boolean): void => {
  const { move, close, chosen, batch, sideBySide } = inbox
  const draft = selectableOf(inbox)
  const extend = (steps: number) => () => {
    if (draft) select(draft)
    move(steps)
  }
  useShortcut('next', () => move(1))
  useShortcut('previous', () => move(-1))
  useShortcut('select', draft && (() => toggleSelected(draft)))
  useShortcut('selectNext', extend(1))
  useShortcut('selectPrevious', extend(-1))
  useShortcut('sideBySide', sideBySide)
  useShortcut('back', isSelection ? clearSelection : chosen ? close : batch && sideBySide)
}

const Waiting = ({ inbox, children }: { inbox: Inbox; children: ReactNode }) => {
  const { read, look, entries, chosen, choose, total, filters } = inbox
  const groups = useMemo(() => entries.map(groupOf), [entries])
  return (
    <section className="inbox-list" aria-label="The list">
      <div className="page-head">
        <span className="head-title">Inbox</span>
        <span className="soft">{waitingWords(total)} waiting</span>
      </div>
      <FilterBar inbox={inbox} />
      <FollowedCalls />
      <ReadView read={read} what="The inbox" lines={8}>
        {entries.length === 0 ? (
          <NothingWaits clear={isFiltered(inbox.filters) ? () => clearFilters(inbox) : undefined} />
        ) : (
          <List
            key={JSON.stringify(filters)}
            entries={entries}
            groups={groups}
            chosen={chosen?.id}
            choose={choose}
            look={look}
          />
        )}
      </ReadView>
      {children}
    </section>
  )
}

const placeWords = (place: number | undefined, total: number): string =>
  place === undefined ? 'Not in this list' : `${place + 1} of ${isMany(total) ? 'many' : total}`

const ChosenHead = ({ inbox }: { inbox: Inbox }) => {
  const { chosen, batch, close, total, sideBySide } = inbox
  return (
    <div className="page-head">
      <button type="button" className="to-list" onClick={close}>
        ‹ {batch ? 'Side by side' : 'Inbox'}
      </button>
      <span className="soft">{placeWords(chosen?.place, total)}</span>
      {!batch && sideBySide && (
        <button type="button" className="beside link" onClick={sideBySide}>
          Side by side <KeyCaps of="sideBySide" />
        </button>
      )}
      <span className="head-keys soft" aria-hidden="true">
        <KeyCaps of="next" /> <KeyCaps of="previous" /> move <KeyCaps of="help" /> keys
      </span>
    </div>
  )
}

const Chosen = ({ inbox }: { inbox: Inbox }) => {
  const { chosen, next } = inbox
  if (!chosen) return <Empty title="Choose what to decide" />
  const Pane = panes[chosen.kind]
  return (
    <>
      <ChosenHead inbox={inbox} />
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

/** The list, or the drafts of one batch side by side. */
const Beside = ({ inbox, children }: { inbox: Inbox; children: ReactNode }) => {
  const { batch } = inbox
  if (!batch) return <Waiting inbox={inbox}>{children}</Waiting>
  return (
    <section className="inbox-list" aria-label="The batch">
      <Suspense fallback={<Bones />}>
        <SideBySide inbox={inbox} batch={batch} />
      </Suspense>
      {children}
    </section>
  )
}

/**
 * Where a decision takes away what had the focus, the pane gets it, so that a screen reader keeps
 * its place.
 */
const useFocusKept = (chosen: string | undefined) => {
  const pane = useRef<HTMLElement>(null)
  const last = useRef(chosen)
  useEffect(() => {
    const hasMoved = last.current !== chosen
    last.current = chosen
    if (hasMoved && document.activeElement === document.body)
      pane.current?.focus({ preventScroll: true })
  }, [chosen])
  return pane
}

/** What is selected, and whether a phone shows that instead of the list. */
const useTogether = () => {
  const drafts = [...useStore(selection).values()]
  const [isOpen, setOpen] = useState(false)
  if (isOpen && drafts.length === 0) setOpen(false)
  return { drafts, isOpen, setOpen }
}

type Together = ReturnType<typeof useTogether>

const classOf = ({ batch, chosen }: Inbox, { drafts, isOpen }: Together): string =>
  [
    'inbox',
    batch && 'is-batch',
    drafts.length > 0 && 'has-together',
    (chosen || isOpen) && 'has-chosen',
  ]
    .filter(Boolean)
    .join(' ')

export const InboxPage = ({ here }: PageProps) => {
  useCalendar()
  const inbox = useInbox(here)
  const together = useTogether()
  const pane = useFocusKept(inbox.chosen?.id)
  const { drafts, setOpen } = together
  useInboxKeys(inbox, drafts.length > 0)
  useEffect(() => pageTitle.set('Inbox'), [])
  const toList = () => {
    setOpen(false)
    inbox.close()
  }
  const waiting = inbox.counts.reduce((sum, { count }) => sum + count, 0)
  const isWhole = !isFiltered({ ...inbox.filters, kind: undefined })
  useEffect(() => {
    if (isWhole) waitingCount.set(waiting)
  }, [isWhole, waiting])
  return (
    <div className={classOf(inbox, together)}>
      <h1 className="unseen">Inbox</h1>
      <WriteOne />
      <Beside inbox={inbox}>
        {drafts.length > 0 && <SelectedBar count={drafts.length} open={() => setOpen(true)} />}
      </Beside>
      <section className="inbox-pane" aria-label="What is chosen" ref={pane} tabIndex={-1}>
        {drafts.length > 0 ? (
          <Selected entries={drafts} close={toList} />
        ) : (
          <Chosen inbox={inbox} />
        )}
      </section>
    </div>
  )
}
