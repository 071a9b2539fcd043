/** One thing that waits. */
import { memo, type ReactNode } from 'react'
import { Icon } from '../parts/icons.tsx'
import { When } from '../parts/when.tsx'
import type { InboxEntry } from './entries.ts'
import { isSelectable, toggleSelected } from './selection.ts'
import { kindWords, wordsOfHook } from './words.ts'

interface RowProps {
  entry: InboxEntry
  isChosen: boolean
  isSelected: boolean
  /** Whether the account is told. */
  tellsAccount: boolean
  choose(entry: InboxEntry): void
}

/** Each text of a playbook is a version of its own; what was sent is what was approved. */
const EDITED_KINDS = ['draft', 'article', 'engagement']
const isEdited = ({ kind, revision }: InboxEntry): boolean =>
  EDITED_KINDS.includes(kind) && (revision ?? 1) > 1

/** How it opens, or who wrote it. */
const aboutOf = ({ hook, author, kind }: InboxEntry): string =>
  wordsOfHook(hook) ?? author?.name ?? kindWords[kind].one

const Count = ({ of, one, icon }: { of: number; one: string; icon: ReactNode }) =>
  of > 0 ? (
    <span className={`row-${one}`}>
      {icon}
      <span className="unseen">
        {of} {one}
        {of === 1 ? '' : 's'}
      </span>
    </span>
  ) : null

const Summary = ({ entry, isChosen, tellsAccount, choose }: Omit<RowProps, 'isSelected'>) => (
  <button
    type="button"
    className="row"
    aria-current={isChosen ? 'true' : undefined}
    onClick={() => choose(entry)}
  >
    <span className="row-title" dir="auto">
      {entry.title}
    </span>
    <span className="row-about">
      {isEdited(entry) && <span className="row-edited">Edited</span>}
      {entry.calls.length > 0 && <span className="row-edited">The agent asks</span>}
      <bdi className="row-by">{aboutOf(entry)}</bdi>
      {tellsAccount && entry.account && <bdi className="row-by">@{entry.account.handle}</bdi>}
      <Count of={entry.warnings} one="warning" icon={<Icon name="warning" />} />
      <Count of={entry.comments} one="comment" icon={<Icon name="comment" />} />
      {entry.expires_at && (
        <span className="row-length">
          until <When at={entry.expires_at} />
        </span>
      )}
      {entry.length !== null && <span className="row-length">{entry.length}</span>}
    </span>
  </button>
)

export const Row = memo(({ entry, isSelected, ...row }: RowProps) => (
  <>
    <Summary entry={entry} {...row} />
    {isSelectable(entry) && (
      <label className="row-select">
        <span className="unseen">
          Select: <bdi>{entry.title}</bdi>
        </span>
        <input
          type="checkbox"
          name="selected"
          checked={isSelected}
          onChange={() => toggleSelected(entry)}
        />
      </label>
    )}
  </>
))
