/** What somebody types over a record, kept in this browser until it is saved or given up. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { boot } from '../boot.ts'
import { dropTyped, keepTyped, type TypedAbout, typedText } from './typed-text.ts'

/** A pause in typing. */
const PAUSE_MS = 400

export interface Typing {
  /** Undefined: nothing is typed. */
  text: string | undefined
  type(text: string): void
  /** It is given up, or saved: then what has been typed since stays. */
  drop(saved?: string): void
}

export const typedAbout = (record: string, revision: number): TypedAbout => ({
  person: boot.session.person.id,
  workspace: boot.session.workspace.id,
  record,
  revision,
})

/** Keeps the text at the next pause, as the page hides, and as the record leaves the screen. */
const useKeeping = (record: string, revision: number, text: string | undefined) => {
  const about = useRef(typedAbout(record, revision))
  const latest = useRef(text)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const rest = useCallback((): boolean => {
    const isDue = timer.current !== undefined
    clearTimeout(timer.current)
    timer.current = undefined
    return isDue
  }, [])
  const keep = useCallback(() => {
    const { current: typed } = latest
    if (rest() && typed !== undefined)
      keepTyped(localStorage, about.current, { text: typed, at: Date.now() })
  }, [rest])
  useLayoutEffect(() => {
    if (about.current.revision === revision) return
    dropTyped(localStorage, about.current)
    about.current = { ...about.current, revision }
    timer.current ??= setTimeout(keep, 0)
  }, [revision, keep])
  useEffect(() => {
    window.addEventListener('pagehide', keep)
    return () => {
      window.removeEventListener('pagehide', keep)
      keep()
    }
  }, [keep])
  return { about, latest, timer, rest, keep }
}

/**
 * `record`: as `TypedAbout` has it; the component must be keyed by it. If the revision changes,
 * what is typed goes over the new one.
 */
export const useTyping = (record: string, revision = 0): Typing => {
  const [text, setText] = useState(
    () => typedText(localStorage, typedAbout(record, revision))?.text,
  )
  const { about, latest, timer, rest, keep } = useKeeping(record, revision, text)
  const show = (next: string | undefined): void => {
    latest.current = next
    setText(next)
  }
  return {
    text,
    type(next) {
      show(next)
      rest()
      timer.current = setTimeout(keep, PAUSE_MS)
    },
    drop(saved) {
      if (saved !== undefined && latest.current !== saved) return
      rest()
      dropTyped(localStorage, about.current)
      show(undefined)
    },
  }
}
