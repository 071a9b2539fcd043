/** One thing that waits. */
import { memo } from 'react'
import { Icon } from '../parts/icons.tsx'
import type { InboxEntry } from './entries.ts'
import { kindWords } from './words.ts'

interface RowProps {
  entry: InboxEntry
  isChosen: boolean
  isSelected: boolean
  choose(entry: InboxEntry): void
}

export const Row = memo(({ entry, isChosen, isSelected, choose }: RowProps) => (
  <button
    type="button"
    className={`row ${isSelected ? 'is-selected' : ''}`}
    aria-current={isChosen ? 'true' : undefined}
    onClick={() => choose(entry)}
  >
    <span className="row-title" dir="auto">
      {isSelected && <Icon name="check" />}
      {entry.title}
    </span>
    <span className="row-about">
      <span>{entry.hook ? entry.hook.replaceAll('_', ' ') : kindWords[entry.kind].one}</span>
      {entry.warnings > 0 && (
        <span className="row-warns">
          <Icon name="warning" />
          <span className="unseen">{entry.warnings} warnings</span>
        </span>
      )}
      {entry.length !== null && <span className="row-length">{entry.length}</span>}
    </span>
  </button>
))
