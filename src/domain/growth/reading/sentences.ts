const ABBREVIATION =
  /(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|inc|ltd|co|no|fig|est|dept|jr|sr|u\.s|u\.k|a\.m|p\.m)\.$/i
/** Longer than any abbreviation with the character before it. */
const LONGEST_ABBREVIATION = 10

const endsOnAbbreviation = (text: string): boolean =>
  ABBREVIATION.test(text.slice(-LONGEST_ABBREVIATION))

/** Open quotes and brackets. Straight quotes count in pairs. */
interface Balance {
  straight: number
  curly: number
  round: number
}

const CHANGES: Readonly<Record<string, Partial<Balance>>> = {
  '"': { straight: 1 },
  '“': { curly: 1 },
  '”': { curly: -1 },
  '(': { round: 1 },
  ')': { round: -1 },
}

const balanceOf = (text: string, before: Balance): Balance => {
  const balance = { ...before }
  for (const [mark] of text.matchAll(/["“”()]/g)) {
    const { straight = 0, curly = 0, round = 0 } = CHANGES[mark] ?? {}
    balance.straight += straight
    balance.curly += curly
    balance.round += round
  }
  return balance
}

const closed: Balance = { straight: 0, curly: 0, round: 0 }
const isOpen = ({ straight, curly, round }: Balance): boolean =>
  straight % 2 === 1 || curly > 0 || round > 0

/**
 * Joins pieces to sentences. A quote or bracket that is closed in a later piece makes the pieces
 * one sentence.
 */
const joinedPieces = (
  pieces: Iterable<string>,
  continues: (before: string, after: string) => boolean,
): string[] => {
  const sentences: string[] = []
  let balance = closed
  for (const piece of pieces) {
    const before = sentences.at(-1)
    if (before === undefined || !(isOpen(balance) || continues(before, piece))) {
      sentences.push(piece)
      balance = balanceOf(piece, closed)
      continue
    }
    sentences[sentences.length - 1] = `${before} ${piece}`
    balance = balanceOf(piece, balance)
  }
  return sentences
}

/**
 * The segmenter of the last language: creating one costs more than segmenting a line, and a profile
 * has one language.
 */
let latest = { language: 'en', segmenter: new Intl.Segmenter('en', { granularity: 'sentence' }) }

const segmenterOf = (language: string): Intl.Segmenter => {
  if (latest.language !== language)
    latest = { language, segmenter: new Intl.Segmenter(language, { granularity: 'sentence' }) }
  return latest.segmenter
}

const splitLine = (line: string, language: string): string[] => {
  const segments = Array.from(segmenterOf(language).segment(line), ({ segment }) =>
    segment.trim(),
  ).filter((text) => text !== '')
  return joinedPieces(
    segments,
    (before, after) =>
      endsOnAbbreviation(before) || /^\p{Ll}/u.test(after) || /^[)\]”’"]/.test(after),
  )
}

const segmenterLanguage = (language: string): string => {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? 'en'
  } catch {
    return 'en'
  }
}

/** Splits text without capitals, which the segmenter takes for one sentence. */
const splitSmall = (line: string): string[] => {
  if (!/^\p{Ll}/u.test(line) || /[.!?]\s+\p{Lu}/u.test(line)) return [line]
  return joinedPieces(line.split(/(?<=\p{L}{2}[.!?])\s+(?=\p{Ll})/u), endsOnAbbreviation)
}

/**
 * The sentences of a text, in order. A line break always ends one; an abbreviation, a quote or a
 * bracket never does.
 */
export const sentencesOf = (text: string, language: string): string[] => {
  const known = segmenterLanguage(language)
  return text
    .split(/[\r\n]+/)
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .flatMap(splitSmall)
    .flatMap((line) => splitLine(line, known))
}

/** Capitalises the first letter, except of names such as `dbt`, `iPhone` and `npm`. */
export const capitalise = (text: string): string => {
  const [lead = '', first = ''] = text.match(/^["“'‘(]*([\p{L}\p{N}_.-]+)/u) ?? []
  const isName =
    first.length > 1 && !/^\p{Ll}*[aeiouyà-ÿ]\p{Ll}*$/u.test(first.replace(/[.-].*/, ''))
  if (!/^\p{Ll}/u.test(first) || isName) return text
  const at = lead.length - first.length
  return text.slice(0, at) + text.charAt(at).toUpperCase() + text.slice(at + 1)
}

/**
 * Adds a missing full stop. A URL at the end is left alone, since the stop would become part of it.
 */
export const withFullStop = (text: string): string => {
  const bare = text.replace(/[\s,;:–—-]+$/u, '')
  if (/[.!?…。！？।]["”’')\]»」]*$/u.test(bare)) return bare
  if (/["”]\s*[—–-]\s*[^"“”]+$/u.test(bare)) return bare
  if (/(?:https?:\/\/|www\.)\S+$/i.test(bare)) return bare
  return `${bare}.`
}

/** Removes list marks at the beginning: `- `, `* `, `1) `. */
export const stripListMark = (text: string): string =>
  text.replace(/^\s*(?:[-*•–—]\s+|\d{1,2}[.)]\s+(?=\p{Lu}))/u, '').trim()
