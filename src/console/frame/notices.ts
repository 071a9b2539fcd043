/** What has just happened: toasts with undo, and one line for screen readers. */
import { createStore } from '../parts/store.ts'

export interface Toast {
  id: number
  /** Who did it, where that is told: the subject of `says`. */
  who?: string | undefined
  says: string
  /** What it is about, such as the first line of a post. */
  about?: string | undefined
  tone?: 'plain' | 'bad' | 'care'
  undo?: (() => Promise<void> | void) | undefined
}

const SHOWN_MS = 8_000
const SHOWN_AT_ONCE = 2
/** How far undo goes back. */
const UNDO_STEPS = 50

export const toasts = createStore<readonly Toast[]>([])
/** The newest last. */
const undoSteps = createStore<readonly Toast[]>([])
export const statusLine = createStore('')

let count = 0

const wordsOf = ({ who, says }: Toast): string => (who === undefined ? says : `${who} ${says}`)

/** Has it spoken by screen readers. */
export const speak = (text: string): void => {
  // The same sentence twice is spoken twice only if the text differs.
  statusLine.set(statusLine.get() === text ? `${text}\u00a0` : text)
}

export const dismiss = (id: number): void =>
  toasts.set(toasts.get().filter((toast) => toast.id !== id))

/** Shows and speaks it. With `undo`, Z takes it back for as long as it is among the last steps. */
export const notify = (given: Omit<Toast, 'id'>): number => {
  const id = ++count
  const toast = { ...given, id }
  toasts.set([...toasts.get(), toast].slice(-SHOWN_AT_ONCE))
  if (toast.undo) undoSteps.set([...undoSteps.get(), toast].slice(-UNDO_STEPS))
  speak(`${wordsOf(toast)}${toast.undo ? '. Z to undo' : ''}`)
  setTimeout(() => dismiss(id), SHOWN_MS)
  return id
}

/** It can no longer be taken back: it has been sent, say. */
const forgetUndo = (id: number): void => {
  undoSteps.set(undoSteps.get().filter((toast) => toast.id !== id))
  dismiss(id)
}

/** Takes back the newest step, or the one of this toast. */
export const undo = async (id?: number): Promise<void> => {
  const step = undoSteps.get().findLast((toast) => id === undefined || toast.id === id)
  if (!step) return speak('Nothing to undo')
  forgetUndo(step.id)
  await step.undo?.()
}
