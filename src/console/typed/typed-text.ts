/**
 * Text that somebody has typed and that is not saved at the server yet. It stays in this browser,
 * by person, workspace, record and revision, until it is saved, for a week, or until they sign out.
 */

const PREFIX = 'tendril.typed:'
const WEEK_MS = 7 * 24 * 60 * 60 * 1_000
/** The oldest go beyond these. */
const KEPT_TEXTS = 200

export interface TypedAbout {
  person: string
  workspace: string
  /** `draft:<id>`, `comment:<id>`. */
  record: string
  /** 0 where the record has none. */
  revision: number
}

export interface KeptText {
  text: string
  /** In milliseconds. */
  at: number
}

const nameOf = ({ person, workspace, record, revision }: TypedAbout): string =>
  `${PREFIX}${person}:${workspace}:${record}:${revision}`

const read = (storage: Storage, name: string): KeptText | undefined => {
  try {
    const found = JSON.parse(storage.getItem(name) ?? 'null') as KeptText | null
    return found && typeof found.text === 'string' && typeof found.at === 'number'
      ? found
      : undefined
  } catch {
    return undefined
  }
}

const namesIn = (storage: Storage): string[] =>
  Object.keys(storage).filter((name) => name.startsWith(PREFIX))

export const typedText = (storage: Storage, about: TypedAbout): KeptText | undefined =>
  read(storage, nameOf(about))

/** What was typed over other revisions of the record, newest first. */
export const typedOverOthers = (
  storage: Storage,
  about: TypedAbout,
): (KeptText & { revision: number })[] => {
  const before = nameOf(about).slice(0, -String(about.revision).length)
  return namesIn(storage)
    .filter((name) => name.startsWith(before) && name !== nameOf(about))
    .flatMap((name) => {
      const typed = read(storage, name)
      return typed ? [{ ...typed, revision: Number(name.slice(before.length)) }] : []
    })
    .sort((a, b) => b.at - a.at)
}

/** A storage that is full or closed keeps nothing; the text is still on the screen. */
export const keepTyped = (storage: Storage, about: TypedAbout, { text, at }: KeptText): boolean => {
  try {
    storage.setItem(nameOf(about), JSON.stringify({ text, at }))
    return true
  } catch {
    return false
  }
}

export const dropTyped = (storage: Storage, about: TypedAbout): void =>
  storage.removeItem(nameOf(about))

/** How many texts of this person are not saved. */
export const unsavedCount = (storage: Storage, person: string): number =>
  namesIn(storage).filter((name) => name.startsWith(`${PREFIX}${person}:`)).length

export const dropAllTyped = (storage: Storage): void => {
  for (const name of namesIn(storage)) storage.removeItem(name)
}

/** Removes what others typed, what is a week old, and the oldest beyond the limit. */
export const tidyTyped = (storage: Storage, person: string, now: number): void => {
  const kept = namesIn(storage).flatMap((name) => {
    const typed = read(storage, name)
    const isOurs = name.startsWith(`${PREFIX}${person}:`)
    if (typed && isOurs && typed.at > now - WEEK_MS) return [{ name, at: typed.at }]
    storage.removeItem(name)
    return []
  })
  for (const { name } of kept.sort((a, b) => b.at - a.at).slice(KEPT_TEXTS))
    storage.removeItem(name)
}
