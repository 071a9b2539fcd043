/** Whoever reads words of others takes time in proportion to their length, whatever they are: nobody's text keeps the event loop from others. */
import { expect, test } from 'bun:test'
import { hostileTexts } from '#test/support/hostile-texts'
import { processorTime } from '#test/support/processor-time'
import { type TextParser, textParsers } from '#test/support/text-parsers'

/**
 * `length`: in characters; the other text is twice as long. Long enough for the bounds that a parser of Markdown has of its own, as for the cells
 * of a table. `noticed`: in µs, of the longer text. What takes less is fast enough at the length that a parser is given, even if it were squared.
 */
const SIZES = { loop: { length: 3_000, noticed: 3_000 }, thread: { length: 12_000, noticed: 100_000 } }
/** A text twice as long takes twice the time; of a square it would take four times as much. */
const MOST_TIMES = 3
const TRIES = 5

/** How many times as much the longer text takes: the least of some tries, for a busy machine makes either look slow. */
const timesAsMuch = (read: (text: string) => void, [short, long]: [string, string]): number => {
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < TRIES && least > MOST_TIMES; tries++)
    least = Math.min(
      least,
      processorTime(() => read(long)) /
        Math.max(
          1,
          processorTime(() => read(short)),
        ),
    )
  return least
}

const slowOn = ({ most, read, prepare, isBeside }: TextParser): string[] => {
  const size = isBeside ? SIZES.thread : SIZES.loop
  return Object.entries(hostileTexts).flatMap(([name, make]) => {
    const length = Math.min(size.length, most / 2)
    const texts = [make(length), make(2 * length)] as const
    const given = new Map(texts.map((text) => [text, prepare?.(text) ?? '']))
    const once = (text: string) => void read(text, given.get(text)!)
    const started = process.cpuUsage()
    once(texts[1])
    const { user, system } = process.cpuUsage(started)
    if (user + system < size.noticed) return []
    const times = timesAsMuch(once, [...texts])
    return times > MOST_TIMES ? [`${name}: ${times.toFixed(1)} times as much for twice the text`] : []
  })
}

const linear = textParsers.filter(({ isBounded }) => !isBounded)

test.each(linear.map((parser) => [parser.name, parser] as const))('%s: twice a hostile text takes twice the time', (_, parser) => {
  expect(slowOn(parser)).toEqual([])
})
