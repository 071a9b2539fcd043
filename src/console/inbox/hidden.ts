/** Entries that were just decided here: they leave the list at once, before the server answers. */
import { createStore } from '../parts/store.ts'

export const hidden = createStore<ReadonlySet<string>>(new Set())

export const hide = (id: string): void => hidden.set(new Set([...hidden.get(), id]))

export const unhide = (id: string): void =>
  hidden.set(new Set([...hidden.get()].filter((one) => one !== id)))
