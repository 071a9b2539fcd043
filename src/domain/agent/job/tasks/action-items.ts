/**
 * Finds action items by the usual forms of notes and letters, in English and German. Text in any
 * other form has none.
 */
import { withoutDue } from './due.ts'
import { type ActionItem, MOST_ITEMS } from './forms.ts'
import { isEnglishVerb, isInfinitive, isParticiple, isPromise } from './verbs.ts'

const BOX = /^(?:[-*•]\s*)?\[([ xX✓]?)\]\s+(\S.*)$/u
const BULLET = /^(?:[-*•–]|\d{1,3}[.)])\s+(\S.*)$/u
const MARKER =
  /^(?:todo|to[- ]do|action(?: item)?|task|next step|follow[- ]?up|aufgabe|zu tun|zu erledigen|nächster schritt|maßnahme)(?:\s*[:–]|\s+-)\s*(\S.*)$/iu
const HEADING =
  /^(?:#+\s*|\*\*)?(?:next steps|action items|actions|to[- ]?dos?|tasks|aufgaben|nächste schritte|zu tun|zu erledigen|maßnahmen)(?:\*\*)?\s*:?(?:\*\*)?$/iu

/** A dot after a number does not end a sentence: "30. November". */
const SENTENCE_END = /(?<=(?<!\d)[.!?])\s+/u
/** In characters: anything longer is no sentence of notes. */
const LONGEST_SENTENCE = 1_000
const LONGEST_TEXT = 500

/** A person by name, or "our legal department". */
const WHO = String.raw`((?:[Oo]ur|[Tt]he|[Uu]nsere?|[Dd]er|[Dd]ie|[Dd]as) [\p{L}-]{2,30}(?: [\p{Ll}-]{2,30})?|\p{Lu}[\p{L}'’-]{0,30}(?: \p{Lu}[\p{L}'’-]{1,30})?)`

const ENGLISH_ASSIGNED = new RegExp(
  String.raw`^${WHO}(?:'ll| will| shall| should| must| has to| have to| needs? to| (?:is|are|am) going to| to)(?: also| please| then)? ([\p{Ll}-]+)\b(.*)$`,
  'u',
)
const GERMAN_ASSIGNED = new RegExp(
  `^${WHO} (soll|sollen|sollte|muss|müssen|wird|werden|werde) (.*?)([a-zäöüß]+)([.!]*)$`,
  'u',
)
const CARES = new RegExp(`^${WHO} kümmert sich (.*?)[.!]*$`, 'u')
const TAKES = new RegExp(`^${WHO} übernimmt (.*?)[.!]*$`, 'u')
const ADDRESSED = /^@(\p{L}[\p{L}'’-]{0,30}),?:? (.+)$/u
const PLEASE = /(?:^|[,;:–-] ?|\band )please ([\p{Ll}-]+)\b(.*)$/iu
const CAN_YOU = /^(?:can|could|would|will) you (?:please )?([\p{Ll}-]+)\b(.*)$/iu
const BITTE = /^bitte (\S.*)$/iu
const KOENNEN_SIE =
  /^(?:können|könnten|kannst|könntest) (?:sie|du|ihr) (?:bitte )?(.*?)([a-zäöüß]+)\?$/iu
const PROMISE = /^(?:ich|wir) ([\p{Ll}]+) (.+)$/iu

/** These words name nobody, but what they are to do still counts. */
const SPEAKERS = new Set([
  'i',
  'we',
  'you',
  'ich',
  'wir',
  'sie',
  'er',
  'he',
  'she',
  'they',
  'du',
  'ihr',
  'man',
  'somebody',
  'someone',
])
/** What follows these words is not done by a person. */
const NOBODY = new Set([
  'it',
  'this',
  'that',
  'there',
  'which',
  'what',
  'es',
  'das',
  'dies',
  'was',
  'wer',
  'who',
])

const ownerOf = (who: string | undefined): string | null =>
  who === undefined || SPEAKERS.has(who.toLowerCase()) ? null : who

const tidy = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/\s+([,.;])/g, '$1')
    .replace(/^[\s,;:–-]+|[\s,;:.!?–-]+$/gu, '')
    .slice(0, LONGEST_TEXT)

/** `text` as it is, without its date. A name in brackets at the end is the owner. */
const itemOf = (text: string, owner: string | null = null): ActionItem | undefined => {
  const { rest, due } = withoutDue(text)
  const named = owner === null ? /^(.*\S)\s+\((\p{Lu}\p{Ll}{1,30})\)[.!]*$/u.exec(rest) : null
  const clean = tidy(named?.[1] ?? rest)
  return clean === '' ? undefined : { text: clean, owner: owner ?? named?.[2] ?? null, due }
}

const inEnglish = (sentence: string): ActionItem | undefined => {
  const assigned = ENGLISH_ASSIGNED.exec(sentence)
  if (assigned && isEnglishVerb(assigned[2]!) && !NOBODY.has(assigned[1]!.toLowerCase()))
    return itemOf(`${assigned[2]}${assigned[3]}`, ownerOf(assigned[1]))
  const asked = PLEASE.exec(sentence) ?? CAN_YOU.exec(sentence)
  return asked && isEnglishVerb(asked[1]!)
    ? itemOf(`${asked[1]!.toLowerCase()}${asked[2]}`)
    : undefined
}

const germanAssigned = (sentence: string): ActionItem | undefined => {
  const found = GERMAN_ASSIGNED.exec(sentence)
  if (!found) return undefined
  const [, who, modal, middle, last] = found
  const isPassive = /^(?:wird|werden)$/.test(modal!) && isParticiple(last!)
  if (!isInfinitive(last!) || isPassive || NOBODY.has(who!.toLowerCase())) return undefined
  return itemOf(`${middle}${last}`, ownerOf(who))
}

const inGerman = (sentence: string): ActionItem | undefined => {
  const assigned = germanAssigned(sentence)
  if (assigned) return assigned
  const cares = CARES.exec(sentence)
  if (cares) return itemOf(`${cares[2]} kümmern`, ownerOf(cares[1]))
  const takes = TAKES.exec(sentence)
  if (takes) return itemOf(`${takes[2]} übernehmen`, ownerOf(takes[1]))
  const asked = BITTE.exec(sentence)
  if (asked) return itemOf(asked[1]!)
  const could = KOENNEN_SIE.exec(sentence)
  if (could && isInfinitive(could[2]!))
    return itemOf(`${could[1]}${could[2]}`.replace(/\bbitte /i, ''))
  const promised = PROMISE.exec(sentence)
  return promised && isPromise(promised[1]!) ? itemOf(`${promised[1]} ${promised[2]}`) : undefined
}

const inSentence = (sentence: string): ActionItem | undefined => {
  if (sentence.length > LONGEST_SENTENCE) return undefined
  const addressed = ADDRESSED.exec(sentence)
  if (!addressed) return inEnglish(sentence) ?? inGerman(sentence)
  const asked = addressed[2]!.replace(/^(?:please|bitte) /i, '')
  return itemOf(asked, addressed[1])
}

/** "Call the bank", "Bank anrufen". */
const isOrder = (text: string): boolean => {
  const words = text.replace(/\s*\([^)]*\)[.!]*$/, '').match(/[\p{L}'’-]+/gu) ?? []
  return words.length > 1 && (isEnglishVerb(words[0]!) || isInfinitive(words.at(-1)!))
}

/** An entry in a list of things to do is an action item, whatever its form. */
const listed = (text: string): ActionItem | undefined => inSentence(text) ?? itemOf(text)

const inLine = (line: string, isListed: boolean): (ActionItem | undefined)[] => {
  const box = BOX.exec(line)
  if (box) return box[1]!.trim() === '' ? [listed(box[2]!)] : []
  const bullet = BULLET.exec(line)?.[1]
  const marked = MARKER.exec(bullet ?? line)
  if (marked) return [listed(marked[1]!)]
  if (bullet !== undefined && isListed) return [listed(bullet)]
  const found = (bullet ?? line).split(SENTENCE_END).map(inSentence)
  if (bullet === undefined || found.some(Boolean)) return found
  return isOrder(withoutDue(bullet).rest) ? [itemOf(bullet)] : []
}

export const actionItemsIn = (text: string): ActionItem[] => {
  const items: ActionItem[] = []
  let isListed = false
  for (const line of text.split('\n').map((one) => one.replace(/\s+/g, ' ').trim())) {
    if (HEADING.test(line)) isListed = true
    else {
      items.push(...inLine(line, isListed).filter((item) => item !== undefined))
      isListed &&= line === '' || BULLET.test(line) || BOX.test(line)
    }
    if (items.length >= MOST_ITEMS) break
  }
  return items.slice(0, MOST_ITEMS)
}
