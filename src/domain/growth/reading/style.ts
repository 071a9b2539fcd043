import type { FormatRules } from '../drafting/format-rules.ts'
import type { Profile } from '../drafting/profile.ts'

/** The part of a voice and its rules that form alone can follow. */
export interface Style {
  english: boolean
  lowercase: boolean
  noExclamation: boolean
  noEmoji: boolean
  noQuestions: boolean
  /** Allows questions, but not as the last line. */
  noClosingQuestion: boolean
  noLists: boolean
  noDashes: boolean
  noContractions: boolean
  noHashtags: boolean
  shortSentences: boolean
  /** `I` or `we`, if the rules ask for one. */
  person: 'I' | 'we' | undefined
  /** Phrases that a rule quotes as forbidden: `never say "synergy"`. */
  avoid: string[]
  maxCharacters: number
  maxWords: number
}

const forbids = (rules: string, thing: string): boolean =>
  new RegExp(
    `\\b(?:no|never|avoid|without|skip|zero|don't|do not|not)\\b[^.;\\n]{0,30}?(?:${thing})`,
    'i',
  ).test(rules)

const quotedAfterNo = (rule: string): string[] => {
  const ban =
    /\b(?:never|avoid|no|not|don['’]t|do not|without|instead of|ban(?:ned)?)\b(.*)$/i.exec(rule)
  const [banned = ''] = (ban?.[1] ?? '').split(/[.;]|,\s*(?:say|use|write|prefer)\b|\bbut\b/i)
  return [...banned.matchAll(/["“«]([^"”»]{2,60})["”»]/g)].map(([, phrase = '']) => phrase)
}

const smallest = (rules: string, unit: string): number => {
  const limits = [
    ...rules.matchAll(
      new RegExp(
        `\\b(?:under|below|at most|max(?:imum)?(?: of)?|up to|no more than)\\s+(\\d{2,4})\\s+(?:${unit})`,
        'gi',
      ),
    ),
  ]
  return Math.min(Number.POSITIVE_INFINITY, ...limits.map(([, limit]) => Number(limit)))
}

const personOf = (rules: string): Style['person'] => {
  if (/first[- ]person plural|\bwe[- ]form\b|\bsay ["“']?we\b/i.test(rules)) return 'we'
  return /first[- ]person|\bI[- ]form\b|\bsay ["“']?I\b/i.test(rules) ? 'I' : undefined
}

/**
 * Limits for many long rules: the beginning of each is read, and the first of the phrases they
 * forbid.
 */
const ALL_RULES = 20_000
const LEAST_OF_RULE = 200
const MOST_FORBIDDEN = 300

/** Reads the voice and voice rules of a profile. A rule that form cannot follow has no effect. */
export const styleOf = (profile: Profile): Style => {
  const { voice_rules } = profile.writing_dna
  const most = Math.max(LEAST_OF_RULE, Math.floor(ALL_RULES / Math.max(1, voice_rules.length)))
  const lines = [profile.voice, ...voice_rules.map((rule) => rule.slice(0, most))]
  const rules = lines.join('\n').replace(/’/g, "'")
  return {
    english: /^en\b/i.test(profile.language),
    lowercase: lines.some(
      (line) =>
        /\blower[- ]?case\b/i.test(line) &&
        !/\b(?:no|not|never|avoid|fine|ok|okay|optional|allowed|sometimes|may|can|instead of)\b/i.test(
          line,
        ),
    ),
    noExclamation: forbids(rules, 'exclamation|!'),
    noEmoji: forbids(rules, 'emojis?'),
    noQuestions:
      forbids(
        rules,
        'questions?(?! (?:at the end|to (?:close|end)|as (?:a )?(?:closer|ending)))',
      ) && !forbids(rules, '(?:closing|final|ending) questions?'),
    noClosingQuestion: forbids(rules, 'questions?'),
    noLists: forbids(rules, 'lists?|bullets?|bullet points'),
    noDashes: forbids(rules, 'em[- ]dash(?:es)?|dashes'),
    noContractions: forbids(rules, 'contractions'),
    noHashtags: forbids(rules, 'hash-?tags?'),
    shortSentences:
      /\b(?:short|brief|crisp|clipped|terse) (?:\w+ )?(?:sentences|lines)\b/i.test(rules) ||
      forbids(rules, 'long sentences'),
    person: personOf(rules),
    avoid: [...new Set(lines.flatMap(quotedAfterNo))].slice(0, MOST_FORBIDDEN),
    maxCharacters: smallest(rules, 'characters|chars'),
    maxWords: smallest(rules, 'words'),
  }
}

/** Adds what a channel's rules forbid altogether. */
export const ruledStyle = (style: Style, { max_emoji, max_hashtags }: FormatRules): Style => ({
  ...style,
  noEmoji: style.noEmoji || max_emoji === 0,
  noHashtags: style.noHashtags || max_hashtags === 0,
})

const EMOJI =
  /(?:\p{Regional_Indicator}{2}|\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F)(?:\p{Emoji_Modifier}|\uFE0F|\u200D\p{Extended_Pictographic})*/gu

/** A sentence rewritten to the rules; undefined if that would change its meaning. */
export const restyle = (text: string, style: Style): string | undefined => {
  if (style.noHashtags && /(?:^|\s)#\p{L}/u.test(text)) return undefined
  let styled = text
  if (style.noEmoji)
    styled = styled
      .replace(EMOJI, '')
      .replace(/\s{2,}/g, ' ')
      .replace(/\s+([.,;:!?])/g, '$1')
      .trim()
  if (style.noExclamation) styled = styled.replace(/!+(?=\s|$|["”’')])/g, '.').replace(/\?\./g, '?')
  if (style.noDashes) styled = styled.replace(/\s*[—]\s*|\s+–\s+/g, ', ')
  return styled
}
