/**
 * Recognises the format and the opening of a text that no drafter wrote, if its form shows them.
 */
import { isList } from '../learning/post-features.ts'
import { ARTICLE_HOOK, type HookKey } from './hooks.ts'
import type { Item } from './item.ts'

/** Empty if it was not recognised. */
type Form = Pick<Item, 'format' | 'hook'>

const unknown: Form = { format: '', hook: '' }

interface Sign {
  of: RegExp
  format: string
  hook: HookKey
}

/**
 * Signs in the whole text, the most telling first. Openings that only the meaning shows, such as a
 * cold open, stay unknown.
 */
const signs: readonly Sign[] = [
  { of: /^ask me about\b/i, format: 'invitation', hook: 'ask-about' },
  {
    of: /^(?:you are welcome to disagree|unpopular opinion|hot take)\b/i,
    format: 'contrarian',
    hook: 'disagree',
  },
  { of: /^(?:the )?lesson(?: first)?:/i, format: 'lesson', hook: 'lesson-first' },
  { of: /^in short:/i, format: 'summary', hook: 'short-version' },
  { of: /\bwhat would you (?:do|have done)[^?]*\?\s*$/i, format: 'question', hook: 'open-ending' },
  { of: /^what would you (?:do|have done)[^?]*\?/i, format: 'question', hook: 'your-call' },
  { of: /^["“«„][^"”»“]+["”»“][^.!?\n]*[.!?]?$/, format: 'quote', hook: 'quote-alone' },
  { of: /^["“«„]/, format: 'story', hook: 'quote-open' },
  { of: /^[^.!?\n]+\?\s*$/, format: 'question', hook: 'open-question' },
  { of: /^[^.!?\n]+\?/, format: 'question', hook: 'own-question' },
  {
    of: /^(?:at first|back then|once),? [\s\S]*[.!?]\s+(?:now|today)\b/i,
    format: 'before-after',
    hook: 'then-now',
  },
  { of: /^(?:(?:i|we|they) used to|back then)\b/i, format: 'story', hook: 'back-then' },
  {
    of: /^(?:yesterday|last (?:week|month|year|night|winter|spring|summer|autumn|fall)|in (?:the \w+ of )?(?:19|20)\d\d|\w+ (?:days|weeks|months|years) ago)\b/i,
    format: 'story',
    hook: 'time-stamp',
  },
]

/** Openings of texts that are laid out as a list. */
const listSigns: readonly Sign[] = [
  { of: /^[^\n]*\bchecklist\b/i, format: 'checklist', hook: 'checklist-open' },
  { of: /^(?:in numbers|by the numbers)\b/i, format: 'list', hook: 'in-numbers' },
  { of: /^for the record\b/i, format: 'list', hook: 'receipts' },
  {
    of: /^[^\n]*\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten)\b[^\n]*:\s*\n/i,
    format: 'list',
    hook: 'list-head',
  },
]

const signIn = (text: string, all: readonly Sign[]): Form | undefined => {
  const sign = all.find(({ of }) => of.test(text))
  return sign && { format: sign.format, hook: sign.hook }
}

/** Only the beginning and the end are searched, because signs occur there. */
const LONGEST = 2_000

export const recogniseForm = ({ kind, body }: Pick<Item, 'kind' | 'body'>): Form => {
  if (kind === 'article') return { format: 'article', hook: ARTICLE_HOOK }
  const text = body.trim().slice(0, LONGEST)
  if (isList(text)) return signIn(text, listSigns) ?? { format: 'list', hook: '' }
  return signIn(text, signs) ?? unknown
}

/**
 * After a change of the text, what was recognised is recognised again; what a drafter said about it
 * stays.
 */
export const recognisedAgain = (before: Item, next: Pick<Item, 'kind' | 'body'>): Form => {
  const { format, hook } = before
  const first = recogniseForm(before)
  return first.format === format && first.hook === hook ? recogniseForm(next) : { format, hook }
}
