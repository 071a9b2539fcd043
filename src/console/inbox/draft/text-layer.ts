/** A text as coloured pieces: links, hashtags, what is beyond the limit, and what nobody sees. */
import { findHashtags } from '#domain/growth/drafting/format-rules'
import { findLinks } from '#domain/growth/drafting/links'
import type { TextMeasure } from '#domain/growth/length/measure-of'
import { replaceUnseen } from '#kernel/unseen'
import { unseenNames } from '../../parts/unseen-names.ts'

export interface LayerPiece {
  text: string
  link: boolean
  tag: boolean
  over: boolean
  /** The names of the characters, none of which anybody would see. */
  unseen: string | undefined
}

interface Range {
  start: number
  end: number
}

export interface LayerRules {
  limit: number
  /** Undefined where the browser does not know how the network counts. */
  measure: TextMeasure | undefined
}

/** Where the text exceeds the limit, in UTF-16 units; its length if it does not. */
export const overFrom = (text: string, { limit, measure }: LayerRules): number => {
  if (!measure || measure(text) <= limit) return text.length
  let [fits, exceeds] = [0, text.length]
  while (exceeds - fits > 1) {
    const middle = (fits + exceeds) >> 1
    if (measure(text.slice(0, middle)) <= limit) fits = middle
    else exceeds = middle
  }
  // Not between the halves of a character.
  return /[\ud800-\udbff]$/.test(text.slice(0, fits)) ? fits - 1 : fits
}

const rangesOfUnseen = (text: string): (Range & { names: string })[] => {
  const found: (Range & { names: string })[] = []
  let at = 0
  const pass = (part: string): string => {
    at += part.length
    return ''
  }
  replaceUnseen(
    text,
    (run) => {
      found.push({ start: at, end: at + run.length, names: unseenNames(run) })
      return pass(run)
    },
    pass,
  )
  return found
}

/** Which of the ranges has a position; they are in order, and so are the positions asked for. */
const rangeAt = <R extends Range>(ranges: readonly R[]): ((at: number) => R | undefined) => {
  let next = 0
  return (at) => {
    while (next < ranges.length && ranges[next]!.end <= at) next++
    const range = ranges[next]
    return range && range.start <= at ? range : undefined
  }
}

/** More would make the browser slow: the rest of such a text is not coloured. */
const MOST_PIECES = 2_000

/** The pieces of a text, in order; together they are the text. */
export const layerPieces = (text: string, rules: LayerRules): LayerPiece[] => {
  const [links, tags, unseen] = [findLinks(text), findHashtags(text), rangesOfUnseen(text)]
  const over = overFrom(text, rules)
  const cuts = new Set([0, over, text.length])
  for (const { start, end } of [...links, ...tags, ...unseen]) cuts.add(start).add(end)
  const sorted = [...cuts].sort((a, b) => a - b)
  const [linkAt, tagAt, unseenAt] = [rangeAt(links), rangeAt(tags), rangeAt(unseen)]
  const pieces = sorted.slice(0, Math.min(sorted.length - 1, MOST_PIECES)).map((start, index) => ({
    text: text.slice(start, sorted[index + 1]),
    link: linkAt(start) !== undefined,
    tag: tagAt(start) !== undefined,
    over: start >= over,
    unseen: unseenAt(start)?.names,
  }))
  const rest = sorted[pieces.length] ?? text.length
  if (rest === text.length) return pieces
  const plain = { link: false, tag: false, over: rest >= over, unseen: undefined }
  return [...pieces, { ...plain, text: text.slice(rest) }]
}
