/** Keeps what is being typed in this browser at every pause, until it is saved. */
import { useCallback, useEffect, useRef } from 'react'
import { boot } from '../boot.ts'
import { dropTyped, keepTyped, type TypedAbout, typedText } from './typed-text.ts'

const PAUSE_MS = 400

const aboutOf = (record: string, revision: number): TypedAbout => ({
  person: boot.session.person.id,
  workspace: boot.session.workspace.id,
  record,
  revision,
})

/** What was typed over this revision of the record and not saved. */
export const typedOf = (record: string, revision: number): string | undefined =>
  typedText(localStorage, aboutOf(record, revision))?.text

/** Keeps a text over another revision at once. */
export const keepOver = (record: string, revision: number, text: string): void =>
  void keepTyped(localStorage, aboutOf(record, revision), { text, at: Date.now() })

/** Keeps `text` at the next pause, and as the page hides. */
export const useTypedKeeper = (record: string, revision: number) => {
  const waiting = useRef<{ text: string; timer: ReturnType<typeof setTimeout> } | undefined>(
    undefined,
  )
  const flush = useCallback(() => {
    if (!waiting.current) return
    clearTimeout(waiting.current.timer)
    const { text } = waiting.current
    waiting.current = undefined
    keepTyped(localStorage, aboutOf(record, revision), { text, at: Date.now() })
  }, [record, revision])
  useEffect(() => {
    window.addEventListener('pagehide', flush)
    return () => {
      window.removeEventListener('pagehide', flush)
      flush()
    }
  }, [flush])
  const keep = (text: string): void => {
    clearTimeout(waiting.current?.timer)
    waiting.current = { text, timer: setTimeout(flush, PAUSE_MS) }
  }
  /** It is saved, or as it was. */
  const drop = (): void => {
    clearTimeout(waiting.current?.timer)
    waiting.current = undefined
    dropTyped(localStorage, aboutOf(record, revision))
  }
  return { keep, drop }
}
