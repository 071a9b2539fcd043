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

const covers = (ranges: readonly Range[], start: number): boolean =>
  ranges.some((range) => range.start <= start && start < range.end)

/** The pieces of a text, in order; together they are the text. */
export const layerPieces = (text: string, rules: LayerRules): LayerPiece[] => {
  const [links, tags, unseen] = [findLinks(text), findHashtags(text), rangesOfUnseen(text)]
  const over = overFrom(text, rules)
  const cuts = new Set([0, over, text.length])
  for (const { start, end } of [...links, ...tags, ...unseen]) cuts.add(start).add(end)
  const sorted = [...cuts].sort((a, b) => a - b)
  return sorted.slice(0, -1).map((start, index) => ({
    text: text.slice(start, sorted[index + 1]),
    link: covers(links, start),
    tag: covers(tags, start),
    over: start >= over,
    unseen: unseen.find((range) => range.start <= start && start < range.end)?.names,
  }))
}
