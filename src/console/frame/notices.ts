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
  canUndo: boolean
}

type Undo = () => Promise<void> | void

interface UndoStep {
  id: number
  undo: Undo
}

interface Notice extends Omit<Toast, 'id' | 'canUndo'> {
  undo?: Undo | undefined
  /** The step that `addUndo` made of it, in place of `undo`. */
  step?: number | undefined
}

const SHOWN_MS = 8_000
const SHOWN_AT_ONCE = 2
/** How far undo goes back. */
const UNDO_STEPS = 50

export const toasts = createStore<readonly Toast[]>([])
/** The newest last. */
const undoSteps = createStore<readonly UndoStep[]>([])
export const statusLine = createStore('')

let count = 0

const wordsOf = ({ who, says }: Pick<Toast, 'who' | 'says'>): string =>
  who === undefined ? says : `${who} ${says}`

/** Has it spoken by screen readers. */
export const speak = (text: string): void => {
  // The same sentence twice is spoken twice only if the text differs.
  statusLine.set(statusLine.get() === text ? `${text}\u00a0` : text)
}

export const dismiss = (id: number): void =>
  toasts.set(toasts.get().filter((toast) => toast.id !== id))

const addStep = (undo: Undo): number => {
  const id = ++count
  undoSteps.set([...undoSteps.get(), { id, undo }].slice(-UNDO_STEPS))
  return id
}

/**
 * From now on Z takes this act back, for as long as it is among the last steps. An act adds its
 * step as it begins: pressed before the server has answered, Z must not take back the step before.
 * It waits for the answer, and a refused act is no step.
 */
export const addUndo = <A>(
  answered: Promise<A>,
  undo: (answer: A) => Promise<void> | void,
): number => {
  const id = addStep(() => answered.then(undo, () => {}))
  answered.catch(() => forgetUndo(id))
  return id
}

/** There is nothing to take back: nothing was done, or it has been taken back. */
export const forgetUndo = (id: number): void => {
  undoSteps.set(undoSteps.get().filter((step) => step.id !== id))
  dismiss(id)
}

/** Shows and speaks it, with undo if it can still be taken back. */
export const notify = ({ undo, step, ...notice }: Notice): void => {
  const id = step ?? (undo ? addStep(undo) : ++count)
  const canUndo = undoSteps.get().some((one) => one.id === id)
  toasts.set([...toasts.get(), { ...notice, id, canUndo }].slice(-SHOWN_AT_ONCE))
  speak(`${wordsOf(notice)}${canUndo ? '. Z to undo' : ''}`)
  setTimeout(() => dismiss(id), SHOWN_MS)
}

/** Takes back the newest step, or the one of this toast. */
export const undo = async (id?: number): Promise<void> => {
  const step = undoSteps.get().findLast((one) => id === undefined || one.id === id)
  if (!step) return speak('Nothing to undo')
  forgetUndo(step.id)
  await step.undo()
}
