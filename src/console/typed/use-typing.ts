/** What somebody types over a record, kept in this browser until it is saved or given up. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { boot } from '../boot.ts'
import { dropTyped, keepTyped, type TypedAbout, typedText } from './typed-text.ts'

/** A pause in typing. */
const PAUSE_MS = 400

export interface Typing {
  /** Undefined: nothing is typed. */
  text: string | undefined
  type(text: string): void
  /** It is saved, or given up. */
  drop(): void
}

/** `record`: as `TypedAbout` has it. The component must be keyed by both. */
export const useTyping = (record: string, revision = 0): Typing => {
  const { person, workspace } = boot.session
  const about = useRef<TypedAbout>({
    person: person.id,
    workspace: workspace.id,
    record,
    revision,
  }).current
  const [text, setText] = useState(() => typedText(localStorage, about)?.text)
  const unkept = useRef<string>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const keep = useCallback(() => {
    clearTimeout(timer.current)
    if (unkept.current === undefined) return
    keepTyped(localStorage, about, { text: unkept.current, at: Date.now() })
    unkept.current = undefined
  }, [about])
  useEffect(() => {
    window.addEventListener('pagehide', keep)
    return () => {
      window.removeEventListener('pagehide', keep)
      keep()
    }
  }, [keep])
  return {
    text,
    type(next) {
      setText(next)
      unkept.current = next
      clearTimeout(timer.current)
      timer.current = setTimeout(keep, PAUSE_MS)
    },
    drop() {
      clearTimeout(timer.current)
      unkept.current = undefined
      dropTyped(localStorage, about)
      setText(undefined)
    },
  }
}
