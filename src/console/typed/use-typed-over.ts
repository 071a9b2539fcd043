/** A stored text as somebody edits it, while others may edit it too. */
import { useEffect, useState } from 'react'
import { withNewlines } from '#domain/growth/drafting/written-text'
import { typedOverOthers, typedText } from './typed-text.ts'
import { typedAbout, useTyping } from './use-typing.ts'

export interface StoredText {
  revision: number
  /** Null: there is no text to edit. */
  body: string | null
}

export interface TypedOver {
  text: string
  isEdited: boolean
  /** Somebody else has stored another text since this one was begun. */
  isStale: boolean
  /** The revision that the typed text began from. */
  base: number
  change(text: string): void
  /** Back to the stored text. */
  forget(): void
  /** What was typed goes over the text that somebody else stored. */
  keepMine(): void
  /** What was sent is stored. What has been typed since goes over it. */
  saved(sent: string, stored: StoredText): void
}

/** Nothing is lost that was typed over a revision which another has replaced meanwhile. */
const firstBase = (record: string, revision: number): number => {
  const about = typedAbout(record, revision)
  if (typedText(localStorage, about)) return revision
  return typedOverOthers(localStorage, about)[0]?.revision ?? revision
}

export const useTypedOver = (record: string, stored: StoredText): TypedOver => {
  const { revision } = stored
  const body = stored.body ?? ''
  const [base, setBase] = useState(() => firstBase(record, revision))
  const typing = useTyping(record, base)
  const text = typing.text ?? body
  const isEdited = text !== body
  // The stored text is the base for as long as nothing is typed over it.
  if (!isEdited && base !== revision) setBase(revision)
  const isStored = typing.text === body
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, as both become the same
  useEffect(() => {
    if (isStored) typing.drop()
  }, [isStored])
  return {
    text,
    isEdited,
    isStale: isEdited && revision > base,
    base,
    /** Line ends are made newlines at once, as the server stores them. */
    change: (entered) => typing.type(withNewlines(entered)),
    forget: () => typing.drop(),
    keepMine: () => setBase(revision),
    saved(sent, now) {
      setBase(now.revision)
      if (now.body !== sent) typing.drop(sent)
    },
  }
}
