import { capitalise, sentencesOf } from './sentences.ts'
import { excerpt, termsOf } from './words.ts'

/** A focus as read, so that none of its wording reaches a post by accident. */
export interface Focus {
  raw: string
  terms: Set<string>
  /** The topic as a short noun phrase that can appear in a post; undefined if none is certain. */
  topic: string | undefined
  /** News that the focus states, to be reported verbatim. */
  statements: readonly string[]
}

const COMMAND =
  /^(?:please\s+)?(?:can you\s+|could you\s+)?(?:write|post|tweet|draft|make|create|generate|give|share|talk|tell|speak|focus|cover|announce|promote|highlight|mention|explain|show|describe|discuss|push|plug|tease|celebrate|invite|ask|use|keep|avoid|include|remember|let'?s|don'?t|do not|never|no|be|start|end|open|close|try|think|aim|target|position|lean|drive)\b/i
const ABOUT =
  /^(?:please\s+)?(?:can you\s+|could you\s+)?[a-z']+(?:\s+(?:me|us))?(?:\s+(?:\d+|a|an|some|few|several|more|short|the))*(?:\s+(?:posts?|tweets?|drafts?|articles?|essays?|something|thoughts?|stories))?\s+(?:about|on|around)\s+(.+)$/i
const BRIEFING =
  /\b(?:posts?|tweets?|drafts?|tone|audience|brief|hashtags?|emojis?|call to action|cta|readers?|followers?|should|must|please|want|need|goal|angle|mention|avoid|confidential|internal|draft|don't|do not|embargo\w*|secret|private|not yet)\b/i

const TOPIC_LENGTH = 48
const TOPIC_WORDS = 6
const NOT_A_TOPIC =
  /[\n.!?:;,"“”()[\]{}<>@#/\\|*_=]|https?:|\b(?:i|we|you|he|she|it|they|is|are|was|were|be|will|can|should|must|have|has|do|does|our|my|their|this|that|these|those)\b/i

const asTopic = (text: string): string | undefined => {
  if (text.length > TOPIC_LENGTH * 4) return undefined
  const phrase = text
    .replace(/^(?:about|on|re|topic|theme|the topic of)\b:?\s+/i, '')
    .replace(/[\s.!]+$/, '')
    .replace(/\s+/g, ' ')
    .trim()
  const words = phrase.split(' ').length
  if (phrase.length < 3 || phrase.length > TOPIC_LENGTH || words > TOPIC_WORDS) return undefined
  if (NOT_A_TOPIC.test(phrase) || COMMAND.test(phrase)) return undefined
  return termsOf(phrase).size === 0 ? undefined : phrase
}

const topicOf = (raw: string, [first = '']: readonly string[]): string | undefined => {
  const about = COMMAND.test(first) ? ABOUT.exec(first)?.[1] : undefined
  return about === undefined ? asTopic(raw) : asTopic(about)
}

/**
 * A statement begins with its own subject and is complete: `We opened the second studio in May.`
 */
const STATEMENT =
  /^(?:we|i|our|my|today|yesterday|this (?:week|month|morning)|last (?:week|month|year)|in \d{4})\b.*[.!]$/i

const statementsOf = (sentences: readonly string[]): readonly string[] => {
  const plain = sentences.every(
    (sentence) => !COMMAND.test(sentence) && !BRIEFING.test(sentence) && !sentence.includes('?'),
  )
  const [first = ''] = sentences
  return plain && sentences.length <= 5 && STATEMENT.test(first) ? sentences : []
}

const EXCLUDES =
  /\b(?:not|never|avoid|without|except|skip|confidential|internal|secret|embargo\w*)\b|n['’]t\b/i
const FILLER =
  /\b(?:please|posts?|tweets?|drafts?|articles?|threads?|focus|keep|mention|tone|short|warm|one|two|three|four|five|ten|want|need|batch|topic|theme|followers|likes|call to action)\b/gi

/** The focus's subject. A sentence that rules something out does not make its words wanted. */
const aboutTerms = (sentences: readonly string[]): Set<string> =>
  termsOf(
    sentences
      .filter((sentence) => !EXCLUDES.test(sentence))
      .map((sentence) => sentence.replace(COMMAND, ' ').replace(FILLER, ' '))
      .join(' '),
  )

/**
 * Reads a focus: a topic phrase, news to report, or a briefing that only steers the choice of
 * material.
 */
export const focusOf = (focus: string, language: string): Focus => {
  const raw = focus.trim()
  const sentences = sentencesOf(raw, language)
  return {
    raw,
    terms: aboutTerms(sentences),
    topic: topicOf(raw, sentences),
    statements: statementsOf(sentences),
  }
}

const LONGEST_HEADLINE = 100

/**
 * The headline of an article on a focus: its topic, or the beginning of its text without the
 * instruction.
 */
export const headlineOf = ({ raw, topic }: Focus, language: string): string => {
  if (topic !== undefined) return capitalise(topic)
  const [first = raw] = sentencesOf(raw, language)
  const bare = first.replace(COMMAND, '').trim()
  const about = COMMAND.test(first) ? (ABOUT.exec(first)?.[1] ?? bare) : first
  return capitalise(excerpt(about === '' ? first : about, LONGEST_HEADLINE))
}
