/** Edits of a finished text that need no other sentences than the composer's own fixed lines. */
import { findLinks } from '#domain/growth/drafting/links'
import { glue } from './glue.ts'
import type { TextEdit } from './hint.ts'

const EMOJI = /\p{RGI_Emoji}|[0-9#*]\u20e3/gv
/** Hashtags by the rules of networks: at least one letter, and not attached to a word. */
const HASHTAG = /(?<![\p{L}\p{M}\p{N}_&/])[#＃](?=[\p{N}_]*[\p{L}\p{M}])([\p{L}\p{M}\p{N}_]+)/gu
/** Hashtags at the end of a line, which are not part of its sentence. */
const TAIL_OF_HASHTAGS = /(?:(?:^|[ \t]+)[#＃][\p{L}\p{M}\p{N}_]+)+[ \t]*$/gmu

const tidy = (text: string): string =>
  text
    .replace(/[ \t]+(?=$|[.,;:!?])/gm, '')
    .replace(/(?<=\S)[ \t]{2,}/g, ' ')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

const withoutLinks = (text: string): string =>
  findLinks(text)
    .filter(({ certain }) => certain)
    .reduceRight(
      (left, { start, end }) => left.slice(0, start) + left.slice(end),
      text.normalize('NFC'),
    )

const QUESTION_AT_END = /[?？؟]["”»)\s]*$/u

type Editor = (text: string, isEnglish: boolean) => string

const editors: Record<TextEdit, Editor> = {
  no_emoji: (text) => tidy(text.replace(EMOJI, '')),
  no_hashtags: (text) => tidy(text.replace(TAIL_OF_HASHTAGS, '').replace(HASHTAG, '$1')),
  no_links: (text) => tidy(withoutLinks(text.normalize('NFC'))),
  // The composer's questions state nothing. It has none in other languages.
  question: (text, isEnglish) =>
    isEnglish && !QUESTION_AT_END.test(text) ? `${text}\n\n${glue['close-story'][0]}` : text,
}

/** Whether the text already is as the edit would make it. */
export const isDone: Record<TextEdit, (text: string) => boolean> = {
  no_emoji: (text) => text.search(EMOJI) < 0,
  no_hashtags: (text) => text.search(HASHTAG) < 0,
  no_links: (text) => !findLinks(text.normalize('NFC')).some(({ certain }) => certain),
  question: (text) => QUESTION_AT_END.test(text),
}

/** In an order in which they do not undo each other. The question comes last. */
const ORDER: readonly TextEdit[] = ['no_emoji', 'no_hashtags', 'no_links', 'question']

/** The text after those edits that `fits` allows. */
export const withEdits = (
  text: string,
  wanted: ReadonlySet<TextEdit>,
  { isEnglish, fits }: { isEnglish: boolean; fits(text: string): boolean },
): string =>
  ORDER.filter((edit) => wanted.has(edit)).reduce((before, edit) => {
    const after = editors[edit](before, isEnglish)
    return after !== '' && fits(after) ? after : before
  }, text)
