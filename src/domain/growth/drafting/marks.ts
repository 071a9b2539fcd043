/**
 * Marks belong to one text and one account. They are made beside the mailbox, so a text may be
 * approved before it has them; then it goes out without. Pure.
 */
import { createHash } from 'node:crypto'
import type { FoundMarks, KeptMarks, Marks } from '#contract/records/growth/marks'
import { findLinks } from './links.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** What they are made for. */
export interface Marked {
  body: string
  /** Our id of the account that would send it; undefined if there is none. */
  account: string | undefined
}

/** Marks of another text, or for another account, are none. */
export const marksFor = (kept: KeptMarks | null, { body, account }: Marked): KeptMarks | null =>
  kept !== null && kept.account === account && kept.text === sha256(body) ? kept : null

/** Of a draft: the language is that of its approval. */
export const keptMarks = (
  { mentions, card }: FoundMarks,
  { body, account }: { body: string; account: string },
): KeptMarks => ({ text: sha256(body), account, mentions, card, language: null })

/** What an approval marks a text with. */
export interface Marking {
  account: string
  language: string | null
  /** What was found for the text as it is, and seen; an edited text has nothing yet. */
  found: FoundMarks | null
}

export const approvedMarks = (
  body: string,
  seen: string,
  { account, language, found }: Marking,
): KeptMarks | null => {
  const marks = body === seen && found ? found : NOTHING
  const kept = { ...keptMarks(marks, { body, account }), language }
  return marksIn(kept) && kept
}

const NOTHING: FoundMarks = { mentions: [], card: null }

const isFound = ({ mentions, card }: FoundMarks): boolean => mentions.length > 0 || card !== null

/** In one form, whatever order the database gives fields; null if nothing was found. */
export const foundIn = (kept: FoundMarks | null): FoundMarks | null =>
  kept && isFound(kept)
    ? {
        mentions: kept.mentions.map(({ handle, id }) => ({ handle, id })),
        card: kept.card && {
          url: kept.card.url,
          title: kept.card.title,
          description: kept.card.description,
        },
      }
    : null

/** What people have seen of them. The language is that of the workspace, whatever the text. */
export const marksShown = (kept: KeptMarks | null): Marks | null => {
  const found = foundIn(kept)
  return found && { ...found, language: null }
}

/** What goes out with an approved text; null if that is the text alone. */
export const marksIn = (kept: KeptMarks | null): Marks | null => {
  const found = foundIn(kept)
  const language = kept?.language ?? null
  return found || language !== null ? { ...(found ?? NOTHING), language } : null
}

const MENTION = /(?:^|[\s(])@[a-z0-9-]+\.[a-z0-9]/i

/** Whether a text has what may have to be looked up. */
export const mayHaveMarks = (body: string): boolean =>
  MENTION.test(body) || findLinks(body).some(({ certain }) => certain)
