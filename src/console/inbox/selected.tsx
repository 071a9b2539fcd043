/** Several drafts at once: what is selected, and one decision about all of it. */
import { boot } from '../boot.ts'
import { ActionButton } from '../parts/action.tsx'
import { When, whenOf } from '../parts/when.tsx'
import { useHasSeveralAccounts } from './accounts.ts'
import { decideTogether } from './decide-together.ts'
import { markOf } from './draft/mark.ts'
import { RejectFoot } from './reject-foot.tsx'
import { clearSelection, type SelectedDraft, toggleSelected } from './selection.ts'
import { useNamedTimes } from './use-named-times.ts'

type Drafts = readonly SelectedDraft[]
type Times = ReadonlyMap<string, string> | undefined

const seen = ({ id, content_hash }: SelectedDraft) => ({
  id,
  ...(content_hash !== null && { expect_hash: content_hash }),
})

const approveAll = (entries: Drafts): void =>
  void decideTogether({ action: 'approve', says: 'approved without a time', entries, each: seen })

/** Each for the very time that stands beside it, or not at all. */
const approveForTimes = (entries: Drafts, times: ReadonlyMap<string, string>): void =>
  void decideTogether({
    action: 'approve',
    says: 'approved for the times named',
    entries: entries.filter(({ id }) => times.has(id)),
    each: (entry) => ({ ...seen(entry), post_at: times.get(entry.id)!, only_if_free: true }),
  })

const rejectAll = (entries: Drafts, reason: string | undefined): void =>
  void decideTogether({
    action: 'reject',
    says: 'rejected',
    entries,
    each: ({ id }) => ({ id, ...(reason && { reason }) }),
  })

const timesRefusal = (times: Times): string | undefined => {
  if (!times) return 'The free times are not known yet.'
  return times.size === 0 ? 'No slot is free in the next 60 days.' : undefined
}

const timesWords = (entries: Drafts, times: Times): string => {
  if (times?.size === 1) return `Approve ${whenOf([...times.values()][0]!)}`
  return times && times.size > 0 && times.size < entries.length
    ? `Approve the ${times.size} that have a time`
    : `Approve for these ${entries.length} times`
}

const Foot = ({ entries, times }: { entries: Drafts; times: Times }) => (
  <RejectFoot
    calls="growth.items.bulk"
    says="Reject all"
    reject={(reason) => rejectAll(entries, reason)}
  >
    <ActionButton calls="growth.items.approve" shortcut="approve" act={() => approveAll(entries)}>
      Approve all
    </ActionButton>
    <ActionButton
      calls="growth.items.approve"
      shortcut="approveForSlot"
      tone="go"
      refused={timesRefusal(times)}
      act={() => times && approveForTimes(entries, times)}
    >
      {timesWords(entries, times)}
    </ActionButton>
  </RejectFoot>
)

const Time = ({ at, isKnown }: { at: string | undefined; isKnown: boolean }) => {
  if (at !== undefined) return <When at={at} />
  return <span className="soft">{isKnown ? 'No free slot in 60 days' : '…'}</span>
}

/** On a phone the list stays on the screen until all are selected. */
export const SelectedBar = ({ count, open }: { count: number; open(): void }) => (
  <div className="together-bar">
    <button type="button" className="link" onClick={clearSelection}>
      Clear
    </button>
    <button type="button" className="action go" onClick={open}>
      {count === 1 ? 'Decide this one' : `Decide ${count} together`}
    </button>
  </div>
)

/** `close`: back to the list, with what is selected. */
export const Selected = ({ entries, close }: { entries: Drafts; close(): void }) => {
  const times = useNamedTimes(entries)
  const tellsAccount = useHasSeveralAccounts()
  return (
    <>
      <div className="page-head">
        <button type="button" className="to-list" onClick={close}>
          ‹ Inbox
        </button>
        <span className="soft">{entries.length} selected</span>
      </div>
      <div className="pane-body">
        <h2>Decide together</h2>
        <p className="soft">With the times that they would be approved for, in {boot.time_zone}.</p>
        <ul className="selected-list">
          {entries.map((entry) => (
            <li key={entry.id}>
              <span className="selected-title" dir="auto">
                {entry.title}
              </span>
              <span className="selected-about">
                <Time at={times?.get(entry.id)} isKnown={times !== undefined} />
                {tellsAccount && entry.account && (
                  <bdi className="soft">@{entry.account.handle}</bdi>
                )}
                <span className="mono soft">{markOf(entry.content_hash)}</span>
              </span>
              <button type="button" className="link" onClick={() => toggleSelected(entry)}>
                Leave out
              </button>
            </li>
          ))}
        </ul>
      </div>
      <Foot entries={entries} times={times} />
    </>
  )
}
