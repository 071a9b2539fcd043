/** A channel's rules for the form of its texts. They apply to drafts and to what people approve. */
import type { growthChannelRecord } from '#contract/records/growth/growth-channel'
import type { RowOf } from '#contract/records/record'
import { normalForm } from '#kernel/normal-form'
import { findLinks } from './links.ts'
import { phraseOf, searchable } from './phrase.ts'

/** Lengths are by the network's own count. */
export type FormatRules = RowOf<typeof growthChannelRecord>['format_rules']

type RuleName = keyof FormatRules

export const noRules: FormatRules = {
  min_length: null,
  max_length: null,
  max_emoji: null,
  max_hashtags: null,
  max_links: null,
  max_line_breaks: null,
  banned_words: [],
}

/** `message` carries the numbers: `4 hashtags, at most 2`. */
export interface BrokenRule {
  rule: RuleName
  message: string
}

/** Keycaps also occur without the variation selector. */
const EMOJI = /\p{RGI_Emoji}|[0-9#*]\u20e3/gv
/** As networks read hashtags: at least one letter, and not attached to a word. */
const HASHTAG = /(?<![\p{L}\p{M}\p{N}_&/])[#＃](?=[\p{N}_]*[\p{L}\p{M}])[\p{L}\p{M}\p{N}_]+/gu
const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g

/** The hashtags of a text, as offsets in UTF-16 units, the end exclusive. */
export const findHashtags = (text: string): { start: number; end: number }[] =>
  Array.from(text.matchAll(HASHTAG), ({ index, 0: tag }) => ({
    start: index,
    end: index + tag.length,
  }))

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Line breaks inside a text, not those around it. */
export const lineBreaksIn = (text: string): number => countOf(text.trim(), LINE_BREAK)

type Counted = 'max_emoji' | 'max_hashtags' | 'max_links' | 'max_line_breaks'

const counts: Record<Counted, { of(text: string): number; one: string; more: string }> = {
  max_emoji: { of: (text) => countOf(text, EMOJI), one: 'emoji', more: 'emoji' },
  max_hashtags: { of: (text) => countOf(text, HASHTAG), one: 'hashtag', more: 'hashtags' },
  max_links: {
    of: (text) => findLinks(normalForm(text, 'NFC')).length,
    one: 'link',
    more: 'links',
  },
  max_line_breaks: { of: lineBreaksIn, one: 'line break', more: 'line breaks' },
}
const counted = Object.keys(counts) as Counted[]

const brokenLengths = ({ min_length, max_length }: FormatRules, length: number): BrokenRule[] => {
  const found = `${length} characters by the network's count`
  return [
    ...(min_length !== null && length < min_length
      ? [{ rule: 'min_length' as const, message: `${found}, at least ${min_length}` }]
      : []),
    ...(max_length !== null && length > max_length
      ? [{ rule: 'max_length' as const, message: `${found}, at most ${max_length}` }]
      : []),
  ]
}

const brokenCounts = (text: string, rules: FormatRules): BrokenRule[] =>
  counted.flatMap((rule) => {
    const most = rules[rule]
    if (most === null) return []
    const count = counts[rule].of(text)
    return count > most
      ? [
          {
            rule,
            message: `${count} ${count === 1 ? counts[rule].one : counts[rule].more}, at most ${most}`,
          },
        ]
      : []
  })

const bannedIn = (text: string, words: readonly string[]): BrokenRule[] => {
  if (words.length === 0) return []
  const searched = searchable(text)
  return words
    .filter((word) => phraseOf(word).occursIn(searched))
    .map((word) => ({ rule: 'banned_words' as const, message: `it contains "${word}"` }))
}

/**
 * Every rule that the text breaks, in the order of the rules. `measure` is the network's own count.
 */
export const checkRules = (
  text: string,
  rules: FormatRules,
  measure: (text: string) => number,
): BrokenRule[] => [
  ...(rules.min_length === null && rules.max_length === null
    ? []
    : brokenLengths(rules, measure(text))),
  ...brokenCounts(text, rules),
  ...bannedIn(text, rules.banned_words),
]

/**
 * For an error about a field: `breaks the rule max_hashtags of channel posts: 4 hashtags, at most
 * 2`.
 */
export const brokenRuleMessage = ({ rule, message }: BrokenRule, channel: string): string =>
  `breaks the rule ${rule} of channel ${channel}: ${message}`

/**
 * A rule that no text can satisfy, or undefined if the rules are sound. `limit` is the network's
 * longest text.
 */
export const faultOfRules = (
  { min_length, max_length }: FormatRules,
  limit: number,
): BrokenRule | undefined => {
  if (max_length !== null && max_length > limit)
    return { rule: 'max_length', message: `is ${max_length}; the network allows at most ${limit}` }
  if (min_length !== null && min_length > limit)
    return { rule: 'min_length', message: `is ${min_length}; the network allows at most ${limit}` }
  if (min_length === null || max_length === null || min_length <= max_length) return undefined
  return {
    rule: 'min_length',
    message: `is ${min_length} and max_length is ${max_length}: no text can satisfy both`,
  }
}

/** Trims words, and drops those that differ from an earlier one by case alone. */
export const tidyWords = (words: readonly string[]): string[] => {
  const kept = new Map<string, string>()
  for (const word of words) {
    const { folded } = searchable(word)
    if (!kept.has(folded)) kept.set(folded, word.trim())
  }
  return [...kept.values()]
}
