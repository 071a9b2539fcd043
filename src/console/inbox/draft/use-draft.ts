/** The text of a draft as it is edited: what is typed, kept in this browser, and saved. */
import { useEffect, useRef, useState } from 'react'
import { withNewlines } from '#domain/growth/drafting/written-text'
import { ApiError, errorWords } from '../../api/errors.ts'
import { mayCall } from '../../api/operations.ts'
import { command, queryClient, readKey } from '../../api/queries.ts'
import { boot } from '../../boot.ts'
import { notify } from '../../frame/notices.ts'
import { keepOver, typedOf, useTypedKeeper } from '../../typed/use-typed.ts'
import type { DraftItem } from './item.ts'

/** While somebody goes on typing, each save would make a version. */
const SAVE_AFTER_MS = 20_000

export interface EditedDraft {
  item: DraftItem
  text: string
  isEdited: boolean
  mayEdit: boolean
  /** Set when the item has a text that somebody else wrote meanwhile: theirs is in `item`. */
  conflict: { base: string } | undefined
  change(text: string): void
  /** What was typed goes over the text that somebody else wrote. */
  keepMine(): void
  /** Back to the stored text. */
  reset(): void
  /** Saves what was typed. Resolves with the item as it is stored then. */
  save(): Promise<DraftItem>
  /** The save that is under way. */
  pending(): Promise<DraftItem> | undefined
  /** What was typed has been sent with a decision. */
  settle(): void
}

const keep = (item: DraftItem): DraftItem => {
  queryClient.setQueryData(readKey('growth.items.get', { id: item.id }), { item })
  return item
}

interface Base {
  revision: number
  body: string
}

const store = async (item: DraftItem, { revision }: Base, body: string): Promise<DraftItem> => {
  try {
    const { item: stored } = await command('growth.items.edit', { id: item.id, body, revision })
    return keep({ ...item, ...stored })
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 409)
      await queryClient.invalidateQueries({
        queryKey: readKey('growth.items.get', { id: item.id }),
      })
    throw cause
  }
}

/** What is typed over the stored text, kept in this browser. */
const useTypedBody = (item: DraftItem) => {
  const record = `draft:${item.id}`
  /** The revision that the typed text began from. */
  const [base, setBase] = useState<Base>({ revision: item.revision, body: item.body })
  const [typed, setTyped] = useState(() => typedOf(record, item.revision))
  const keeper = useTypedKeeper(record, base.revision)
  const isEdited = typed !== undefined && typed !== item.body
  const rebase = (): void => setBase({ revision: item.revision, body: item.body })
  // The stored text is the base for as long as nothing is typed over it.
  if (!isEdited && item.revision !== base.revision) rebase()
  return {
    base,
    text: typed ?? item.body,
    isEdited,
    /** Line ends are made newlines at once, as the server stores them. */
    change(entered: string) {
      const next = withNewlines(entered)
      setTyped(next)
      if (next === item.body) keeper.drop()
      else keeper.keep(next)
    },
    /** Forgets what was typed, unless more was typed than `saved`. */
    forget(saved?: string) {
      keeper.drop()
      setTyped((now) => (saved === undefined || now === saved ? undefined : now))
    },
    keepMine() {
      keeper.drop()
      keepOver(record, item.revision, typed ?? item.body)
      rebase()
    },
  }
}

export const useDraft = (item: DraftItem): EditedDraft => {
  const { base, text, isEdited, change, forget, keepMine } = useTypedBody(item)
  const saving = useRef<Promise<DraftItem> | undefined>(undefined)
  const isStale = isEdited && item.revision !== base.revision
  const send = async (): Promise<DraftItem> => {
    const stored = await store(item, base, text)
    forget(text)
    return stored
  }
  const save = (): Promise<DraftItem> => {
    if (!isEdited || isStale) return saving.current ?? Promise.resolve(item)
    saving.current ??= send().finally(() => {
      saving.current = undefined
    })
    return saving.current
  }
  useAutosave(text, isEdited && !isStale ? save : undefined)
  return {
    item,
    text,
    isEdited,
    mayEdit: mayCall(boot.session.role, 'growth.items.edit') && item.status === 'drafted',
    conflict: isStale ? { base: base.body } : undefined,
    change,
    keepMine,
    reset: () => forget(),
    save,
    pending: () => saving.current,
    settle: () => forget(),
  }
}

const useAutosave = (text: string, save: (() => Promise<unknown>) | undefined): void => {
  const latest = useRef(save)
  latest.current = save
  const isOn = save !== undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the text begins the time anew
  useEffect(() => {
    if (!isOn) return
    const timer = setTimeout(
      () =>
        void latest.current?.().catch((cause) =>
          notify({
            says: `Not saved yet; this browser keeps it. ${errorWords(cause)}`,
            tone: 'care',
          }),
        ),
      SAVE_AFTER_MS,
    )
    return () => clearTimeout(timer)
  }, [text, isOn])
}
