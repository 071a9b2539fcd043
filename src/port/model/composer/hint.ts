/**
 * What a person wants changed when a text is written again, as far as the composer can follow it.
 * Understands only English.
 */

/** Edits that a text can get without other material. */
export type TextEdit = 'no_emoji' | 'no_hashtags' | 'no_links' | 'question'
type Length = 'shorter' | 'longer'

export interface Wishes {
  length: Length | undefined
  edits: ReadonlySet<TextEdit>
  /** Whether another opening than the present one is wanted. */
  otherHook: boolean
  /** What the text is to be about, or to say; may be empty. */
  topic: string
  /** Parts of the hint that only a model, or a person, can follow. */
  beyond: string[]
}

/** Where a hint that asks for several things is divided. */
const BETWEEN = /\s*(?:[,;.!\n]+|\b(?:and|or|nor|but|then|also|please)\b)\s*/i

const NONE_OF = String.raw`^(?:use |with |have )?(?:no|without|remove|drop|delete|skip|fewer|less|cut|lose)\b.*`

const FIRST_LEFT_OUT = new RegExp(
  String.raw`${NONE_OF}\b(?:emojis?|hash ?tags?|links?|urls?)\b`,
  'i',
)

const edits: readonly (readonly [TextEdit, RegExp])[] = [
  ['no_emoji', new RegExp(String.raw`${NONE_OF}\bemojis?\b`, 'i')],
  ['no_hashtags', new RegExp(String.raw`${NONE_OF}\bhash ?tags?\b`, 'i')],
  ['no_links', new RegExp(String.raw`${NONE_OF}\b(?:links?|urls?)\b`, 'i')],
  [
    'question',
    /^(?:(?:end|finish|close|conclude)\b.*\bquestion|(?:ask|add)\b.*\bquestion|a question at the end)/i,
  ],
]

const OTHER_HOOK =
  /\b(?:another|different|new|other|better|stronger|fresh)\b.*\b(?:hook|opening|opener|start|beginning|first (?:line|sentence))\b|\b(?:start|open|begin)\b.*\bdifferently\b/i
const SHORTER =
  /\b(?:short|shorter|shorten|briefer|concise|tighter|tighten)\b|\bless (?:text|words|detail|long)\b|^(?:be |keep it )?brief$|^(?:cut|trim)\b|^less$/i
const LONGER =
  /\b(?:longer|expand|elaborate|detailed)\b|\bmore (?:text|words|details?|depth)\b|^more$/i
/** The beginning of an instruction. Anything else is content for the text. */
const INSTRUCTION =
  /^(?:make|keep|use|write|be|sound|remove|drop|delete|cut|trim|add|rephrase|reword|rewrite|change|fix|improve|less|more|no|not|do not|don't|avoid|without|with|end|finish|close|start|open|begin|try|give|too|tone)\b/i
/**
 * A beginning that may also start content, such as “a customer story from Berlin”. If the clause is
 * short, it is a remark.
 */
const MANNER = /^(?:it|in|as|for|again|another|different|new|a|an)\b/i
const UNWANTED =
  /\b(?:no|not|never|don't|don’t|without|avoid|remove|drop|delete|cut|skip|stop|less|fewer)\b/i
const ABOUT = /\b(?:about|mention(?:ing)?|focus(?:ed|ing)? on|regarding)\b\s*(.+)$/i
/**
 * How many words a remark about the length has at most, with and without a verb. A longer clause
 * that contains “shorter” is content.
 */
const MOST_WORDS = { instruction: 7, remark: 3, manner: 4 }

const wordsIn = (text: string): number => text.trim().split(/\s+/).length

const lengthIn = (clause: string): Length | undefined => {
  if (wordsIn(clause) > (INSTRUCTION.test(clause) ? MOST_WORDS.instruction : MOST_WORDS.remark))
    return undefined
  if (SHORTER.test(clause)) return 'shorter'
  return LONGER.test(clause) ? 'longer' : undefined
}

interface Read {
  edit?: TextEdit | undefined
  otherHook?: boolean
  length?: Length | undefined
  topic?: string | undefined
  beyond?: string
}

const readClause = (clause: string): Read => {
  const edit = edits.find(([, sign]) => sign.test(clause))?.[0]
  if (edit) return { edit }
  if (OTHER_HOOK.test(clause)) return { otherHook: true }
  const topic = ABOUT.exec(clause)?.[1]
  if (topic !== undefined && UNWANTED.test(clause.slice(0, clause.length - topic.length)))
    return { beyond: clause }
  const length = lengthIn(
    topic === undefined ? clause : clause.slice(0, clause.length - topic.length),
  )
  if (length || topic !== undefined) return { length, topic }
  const isRemark =
    INSTRUCTION.test(clause) || (MANNER.test(clause) && wordsIn(clause) <= MOST_WORDS.manner)
  return isRemark ? { beyond: clause } : { topic: clause }
}

/** “no emoji, hashtags or links”: what follows the first is left out too. */
const LEFT_OUT = /^(?:the |any |all )?(emojis?|hash ?tags?|links?|urls?)$/i

const spelledOut = (clauses: string[]): string[] =>
  clauses.map((clause, at) =>
    LEFT_OUT.test(clause) && at > 0 && FIRST_LEFT_OUT.test(clauses[0]!) ? `no ${clause}` : clause,
  )

/** If a hint has no instruction, all of it says what the text is to be about. */
export const wishesIn = (hint: string): Wishes => {
  const read = spelledOut(hint.split(BETWEEN).filter((clause) => clause !== '')).map(readClause)
  const isMatter = read.every(
    ({ edit, otherHook, length, beyond }) => !edit && !otherHook && !length && beyond === undefined,
  )
  return {
    length: read.find(({ length }) => length)?.length,
    edits: new Set(read.flatMap(({ edit }) => edit ?? [])),
    otherHook: read.some(({ otherHook }) => otherHook),
    topic: isMatter ? hint : read.flatMap(({ topic }) => topic ?? []).join(', '),
    beyond: read.flatMap(({ beyond }) => beyond ?? []),
  }
}
