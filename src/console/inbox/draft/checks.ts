/** What the server will say of a text, by the server's own rules. */
import { checkRules, type FormatRules, lineBreaksIn } from '#domain/growth/drafting/format-rules'
import { withNewlines, writtenFault } from '#domain/growth/drafting/written-text'
import { measureOf, type TextMeasure } from '#domain/growth/length/measure-of'
import { replaceUnseen } from '#kernel/unseen'
import { unseenNames } from '../../parts/unseen-names.ts'

/** The part of an account's limits that concerns texts. */
interface TextLimits {
  max_length: number
  max_article_length: number | null
  counting: string
}

export interface TextRules {
  kind: 'post' | 'article'
  limits: TextLimits
  /** Of the channel; undefined if it has none. */
  rules: FormatRules | undefined
}

export interface TextCheck {
  /** As the server stores it: with newlines as its only line ends. */
  body: string
  /** Undefined where the browser does not know how the network counts. */
  length: number | undefined
  limit: number
  measure: TextMeasure | undefined
  bytes: number
  lines: number
  /** The names of the characters that nobody sees, each as often as it occurs. */
  unseen: string[]
  /** Sentences, each of which refuses an approval. */
  faults: string[]
}

const unseenIn = (text: string): string[] => {
  const found: string[] = []
  replaceUnseen(text, (run) => {
    for (const one of run) found.push(unseenNames(one))
    return ''
  })
  return found
}

/** Where the account takes no articles, that of a post. */
export const textLimit = ({ kind, limits }: TextRules): number =>
  (kind === 'article' ? limits.max_article_length : null) ?? limits.max_length

export const checkText = (text: string, rules: TextRules): TextCheck => {
  const body = withNewlines(text)
  const fault = writtenFault(body)
  const measure = measureOf(rules.limits.counting)
  const [length, limit] = [measure?.(body), textLimit(rules)]
  const broken = measure && rules.rules ? checkRules(body, rules.rules, measure) : []
  return {
    body,
    length,
    limit,
    measure,
    bytes: new TextEncoder().encode(body).length,
    lines: lineBreaksIn(body) + 1,
    unseen: unseenIn(body),
    faults: [
      ...(fault === undefined ? [] : [`The text ${fault}.`]),
      ...(body.trim() === '' ? ['The text is empty.'] : []),
      ...(length !== undefined && length > limit
        ? [`It has ${length} characters by the network's count, and at most ${limit} are allowed.`]
        : []),
      ...broken.map(({ message }) => `It breaks a rule of its channel: ${message}.`),
    ],
  }
}
