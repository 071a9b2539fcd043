/** Saves a text that is typed: on leaving it, or after a while. */
import { useEffect, useRef } from 'react'
import { errorWords } from '../api/errors.ts'
import { notify } from '../frame/notices.ts'
import type { StoredText, TypedOver } from './use-typed-over.ts'

/** While somebody goes on typing, each save would make a version. */
const SAVE_AFTER_MS = 20_000

const sayUnsaved = (cause: unknown): void =>
  void notify({ says: `Not saved yet; this browser keeps it. ${errorWords(cause)}`, tone: 'care' })

export interface Saving<R> {
  /** What is typed stays in this browser if the server refuses it. */
  save(): void
  /**
   * The record after the save that is under way. What is drawn may be older than a save that has
   * just ended: the newer of both counts.
   */
  newest(drawn: R): Promise<R>
}

/** `write` stores a text over the record, whose revision is that with which the text was begun. */
export const useSaving = <R extends StoredText>(
  edited: TypedOver,
  write: (text: string, base: number) => Promise<R>,
): Saving<R> => {
  const { text, base, isEdited, isStale } = edited
  const under = useRef<Promise<R>>(undefined)
  const last = useRef<R>(undefined)
  const send = async (): Promise<R> => {
    const stored = await write(text, base)
    last.current = stored
    edited.saved(text, stored)
    return stored
  }
  const save = (): void => {
    // No record takes an empty text; what was cleared is kept here, as any unsaved text is.
    if (!isEdited || isStale || under.current || text === '') return
    under.current = send().finally(() => {
      under.current = undefined
    })
    under.current.catch(sayUnsaved)
  }
  const latest = useRef(save)
  latest.current = save
  const isOn = isEdited && !isStale
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the text begins the time anew
  useEffect(() => {
    if (!isOn) return
    const timer = setTimeout(() => latest.current(), SAVE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [text, isOn])
  const newest = async (drawn: R): Promise<R> => {
    await under.current
    return last.current && last.current.revision > drawn.revision ? last.current : drawn
  }
  return { save, newest }
}
