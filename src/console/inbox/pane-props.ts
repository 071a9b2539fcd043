import type { InboxEntry } from './entries.ts'

/** What each pane is given. */
export interface PaneProps {
  id: string
  /** As the list has it; undefined if the list does not have it, or no longer. */
  entry: InboxEntry | undefined
  /** To the next entry, after a decision on this one. */
  next(): void
}
