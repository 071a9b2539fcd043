/** Drafts that are decided together. */
import { createStore } from '../parts/store.ts'
import type { InboxEntry } from './entries.ts'

/** As they were on the screen, by id: a decision is bound to these texts. */
export const selection = createStore<ReadonlyMap<string, InboxEntry>>(new Map())

/** What one request can decide. */
export const isSelectable = ({ kind }: InboxEntry): boolean =>
  kind === 'draft' || kind === 'article'

export const select = (entry: InboxEntry): void => {
  if (isSelectable(entry)) selection.set(new Map(selection.get()).set(entry.id, entry))
}

export const toggleSelected = (entry: InboxEntry): void => {
  const rest = new Map(selection.get())
  if (rest.delete(entry.id)) selection.set(rest)
  else select(entry)
}

export const clearSelection = (): void => selection.set(new Map())
