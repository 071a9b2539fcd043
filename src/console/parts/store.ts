/** A value that components follow and that code outside of them changes. */
import { useSyncExternalStore } from 'react'

export interface ValueStore<T> {
  get(): T
  set(next: T): void
  subscribe(listener: () => void): () => void
}

export const createStore = <T>(first: T): ValueStore<T> => {
  let value = first
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export const useStore = <T>({ subscribe, get }: ValueStore<T>): T =>
  useSyncExternalStore(subscribe, get)
