/** Drafts that are decided together. */
import { createStore } from '../parts/store.ts'
import type { InboxEntry } from './entries.ts'

export interface SelectedDraft
  extends Pick<InboxEntry, 'id' | 'title' | 'account' | 'content_hash'> {
  kind: 'draft' | 'article'
}

/** As they were on the screen, by id: a decision is bound to these texts. */
export const selection = createStore<ReadonlyMap<string, SelectedDraft>>(new Map())

/** What one request can decide. */
export const isSelectable = <E extends Pick<InboxEntry, 'kind'>>(
  entry: E,
): entry is E & { kind: SelectedDraft['kind'] } =>
  entry.kind === 'draft' || entry.kind === 'article'

export const select = (entry: SelectedDraft): void =>
  selection.set(new Map(selection.get()).set(entry.id, entry))

export const deselect = (entries: readonly Pick<SelectedDraft, 'id'>[]): void => {
  const gone = new Set(entries.map(({ id }) => id))
  selection.set(new Map([...selection.get()].filter(([id]) => !gone.has(id))))
}

export const toggleSelected = (entry: SelectedDraft): void =>
  selection.get().has(entry.id) ? deselect([entry]) : select(entry)

export const clearSelection = (): void => selection.set(new Map())
