import { findLinks } from '#domain/growth/drafting/links'
import { normalForm } from '#kernel/normal-form'

/** X's longest ordinary post, in weighted characters. */
export const WEIGHTED_LIMIT = 280

/** X's longest long-form post, by the same count. Source: help.x.com, longer posts. */
export const LONG_WEIGHTED_LIMIT = 25_000

/** How limits describe this count. */
export const WEIGHTED_COUNTING =
  'as X counts: links as 23, emoji and most characters outside of Latin scripts as 2'

const LINK_WEIGHT = 23
const DEFAULT_WEIGHT = 2
/**
 * Code points that count as one. All others count as two (twitter-text configuration, version 3).
 */
const SINGLE: readonly (readonly [number, number])[] = [
  [0x0000, 0x10ff],
  [0x2000, 0x200d],
  [0x2010, 0x201f],
  [0x2032, 0x2037],
]
const ANY_HEAVIER = /[\u1100-\u{10ffff}]/u
/** Keycaps also occur without the variation selector. */
const EMOJI = /\p{RGI_Emoji}|[0-9#*]\u20e3/gv

const weigh = (point: number): number =>
  SINGLE.some(([first, last]) => point >= first && point <= last) ? 1 : DEFAULT_WEIGHT

const weighPoints = (text: string): number => {
  let total = 0
  for (const character of text) total += weigh(character.codePointAt(0) ?? 0)
  return total
}

/** The weight of a text without links. An emoji counts as two, however many code points it has. */
const weighWords = (text: string): number => {
  if (!ANY_HEAVIER.test(text)) return text.length
  let total = 0
  let at = 0
  for (const emoji of text.matchAll(EMOJI)) {
    total += weighPoints(text.slice(at, emoji.index)) + DEFAULT_WEIGHT
    at = emoji.index + emoji[0].length
  }
  return total + weighPoints(text.slice(at))
}

/**
 * The length of a text as X counts it, in weighted characters: after NFC, a link is 23, an emoji 2,
 * a Latin or neighbouring character 1, any other 2. If X may or may not see a link, the larger
 * count applies, so a text within the limit here is within X's too. Source: docs.x.com,
 * fundamentals/counting-characters.
 */
export const weightedLength = (text: string): number => {
  const normal = normalForm(text, 'NFC')
  let total = 0
  let at = 0
  for (const { start, end, certain } of findLinks(normal)) {
    total += weighWords(normal.slice(at, start))
    total += certain ? LINK_WEIGHT : Math.max(LINK_WEIGHT, weighWords(normal.slice(start, end)))
    at = end
  }
  return total + weighWords(normal.slice(at))
}
