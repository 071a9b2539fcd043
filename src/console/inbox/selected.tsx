/** Several drafts at once: what is selected, and one decision about all of it. */
import { ActionButton } from '../parts/action.tsx'
import { decideTogether } from './decide-together.ts'
import { markOf } from './draft/mark.ts'
import type { InboxEntry } from './entries.ts'
import { RejectFoot } from './reject-foot.tsx'
import { clearSelection, toggleSelected } from './selection.ts'

const seen = ({ id, content_hash }: InboxEntry) => ({
  id,
  ...(content_hash !== null && { expect_hash: content_hash }),
})

const approveAll = (entries: readonly InboxEntry[]): void =>
  void decideTogether({ action: 'approve', says: 'approved without a time', entries, each: seen })

const approveForSlots = (entries: readonly InboxEntry[]): void =>
  void decideTogether({
    action: 'approve',
    says: 'approved for the next free slots',
    entries,
    each: (entry) => ({ ...seen(entry), post_at: 'next_slot' }),
  })

const rejectAll = (entries: readonly InboxEntry[], reason: string | undefined): void =>
  void decideTogether({
    action: 'reject',
    says: 'rejected',
    entries,
    each: ({ id }) => ({ id, ...(reason && { reason }) }),
  })

const Foot = ({ entries }: { entries: readonly InboxEntry[] }) => (
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
      act={() => approveForSlots(entries)}
    >
      {entries.length === 1
        ? 'Approve for the next free slot'
        : `Approve for the next ${entries.length} free slots`}
    </ActionButton>
  </RejectFoot>
)

export const Selected = ({ entries }: { entries: readonly InboxEntry[] }) => (
  <>
    <div className="page-head">
      <button type="button" className="to-list" onClick={clearSelection}>
        ‹ Inbox
      </button>
      <span className="soft">{entries.length} selected</span>
    </div>
    <div className="pane-body">
      <h2>Decide together</h2>
      <ul className="selected-list">
        {entries.map((entry) => (
          <li key={entry.id}>
            <span dir="auto">{entry.title}</span>
            <span className="mono soft">{markOf(entry.content_hash)}</span>
            <button type="button" className="link" onClick={() => toggleSelected(entry)}>
              Leave out
            </button>
          </li>
        ))}
      </ul>
    </div>
    <Foot entries={entries} />
  </>
)
