import { beginning } from '#kernel/storable'
import { foldText } from '../drafting/phrase.ts'

/** The words of a text in order, without punctuation. */
export const wordsOf = (text: string): string[] =>
  text.match(/[\p{L}\p{N}][\p{L}\p{N}'’.,%-]*[\p{L}\p{N}%]|[\p{L}\p{N}]/gu) ?? []

/** A text reduced to its folded words, so that a sentence is found whatever surrounds it. */
export const wordLine = (text: string): string =>
  ` ${(foldText(text).match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')} `

const COMMON = new Set(
  `a about after again all also am an and any are as at back be because been before being both but by can could did do does doing
  down each ever every few first for from get got had has have having he her here hers him his how i if in into is it its just last
  like made make makes many me more most much my never new no not now of off on once one only or other our ours out over own same
  she so some still such than that the their them then there these they this those through to today too two under until up us use
  used very was we were what when where which while who why will with without would year years you your post posts tweet write
  draft people thing things run runs running ran work works worked working open opened opens keep kept keeps start started
  starts put puts tell told tells turn turned turns change changed changes ask asked asks find found look looked come came go goes went
  give gave given take took taken say said says show showed shows call called try tried help helped move moved week weeks month months day
  days hour hours minute minutes morning night time times one two three four five six seven eight nine ten eleven twelve know knew want
  wanted need needed here now next lot big small good better best long short left right end ended happen happened`.split(
    /\s+/,
  ),
)

/**
 * Removes endings that differ between forms of a word. Stems are only compared with other stems.
 */
const stem = (word: string): string => {
  const bare = word.replace(/['’]s?$/, '')
  if (bare.length < 5) return bare.replace(/(?<=\w{2})s$/, '')
  return bare.replace(/(?:ings?|edly|ed|ers?|ies|ied|es|s|ly|y|e)$/, '')
}

/** The significant words of a text, as stems. */
export const termsOf = (text: string): Set<string> =>
  new Set(
    (foldText(text).match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [])
      .filter((word) => word.length > 2 && !COMMON.has(word))
      .map(stem)
      .filter((term) => term.length > 1),
  )

/** How many terms two texts share. */
export const countShared = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  const [fewer, more] = a.size < b.size ? [a, b] : [b, a]
  let common = 0
  for (const term of fewer) if (more.has(term)) common += 1
  return common
}

/** The beginning of a text for a rationale: at most `limit` characters, cut between words. */
export const excerpt = (text: string, limit: number): string => {
  const line = text
    .trim()
    .slice(0, limit * 8)
    .replace(/\s+/g, ' ')
    .trim()
  if (line.length <= limit) return line.replace(/[.,;:]$/, '')
  const cut = beginning(line, limit)
  return `${beginning(cut, Math.max(cut.lastIndexOf(' '), limit / 2)).replace(/[\s,;:.–—-]+$/u, '')}…`
}
