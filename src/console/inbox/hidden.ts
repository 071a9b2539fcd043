/** Entries that were just decided here: they leave the list at once, before the server answers. */
import { createStore } from '../parts/store.ts'

/** By id, with the time that each is being approved for. */
export const hidden = createStore<ReadonlyMap<string, string | undefined>>(new Map())

export const hide = (id: string, at?: string): void => hidden.set(new Map(hidden.get()).set(id, at))

export const unhide = (id: string): void => {
  const left = new Map(hidden.get())
  left.delete(id)
  hidden.set(left)
}
