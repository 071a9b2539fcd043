/**
 * Whoever reads words of others takes time in proportion to their length, whatever they are:
 * nobody's text keeps the event loop from others.
 */
import { expect, test } from 'bun:test'
import { hostileTexts } from '#test/support/texts/hostile-texts'
import { type TextParser, textParsers } from '#test/support/texts/text-parsers'

/**
 * A hostile text of `length` characters is compared with one that is `share` times shorter and read
 * `runs` times, which makes about as much garbage. If the time is squared, the long one takes
 * `share` times as long again; `mostTimes` is between. It is long enough for the bounds that a
 * parser of Markdown has of its own, as for the cells of a table. `noticed`: in µs. What takes less
 * is fast enough at the length that a parser is given, even if it were squared.
 */
const SIZES = {
  loop: { length: 6_000, noticed: 3_000, share: 8, runs: 8, tries: 2, mostTimes: 20 },
  thread: { length: 24_000, noticed: 100_000, share: 2, runs: 1, tries: 1, mostTimes: 3 },
}
const MOST_TRIES = 50

/** In µs of processor time. */
const timeOf = (work: () => void): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return Math.max(1, user + system)
}

type Measuring = (typeof SIZES)['loop'] & { read(length: number): () => void }

/**
 * How many times as long the text takes as the shorter one; undefined if it is fast or in
 * proportion. Compiling, collecting garbage and a busy machine only add, so the least time of each
 * counts; they are measured in turns, `tries` times at least.
 */
const timesAsLong = ({
  length,
  noticed,
  share,
  runs,
  tries,
  mostTimes,
  read,
}: Measuring): number | undefined => {
  const [whole, part] = [read(length), read(length / share)]
  let [ofWhole, ofPart] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let tried = 1; tried <= MOST_TRIES; tried++) {
    ofWhole = Math.min(ofWhole, timeOf(whole))
    if (ofWhole < noticed) return undefined
    const ofRuns = timeOf(() => {
      for (let run = 0; run < runs; run++) part()
    })
    ofPart = Math.min(ofPart, ofRuns / runs)
    if (tried >= tries && ofWhole <= mostTimes * ofPart) return undefined
  }
  return ofWhole / ofPart
}

const slowOn = ({ most, least = 0, read, prepare, isBeside }: TextParser): string[] => {
  const size = isBeside ? SIZES.thread : SIZES.loop
  const length = Math.max(Math.min(size.length, most), least * size.share)
  return Object.entries(hostileTexts).flatMap(([name, make]) => {
    const reading = (ofLength: number) => {
      const text = make(ofLength)
      const given = prepare?.(text) ?? ''
      return () => void read(text, given)
    }
    const times = timesAsLong({ ...size, length, read: reading })
    return times === undefined
      ? []
      : [`${name}: ${times.toFixed(1)} times as long for ${size.share} times the text`]
  })
}

const linear = textParsers.filter(({ isBounded }) => !isBounded)

test.each(linear.map((parser) => [parser.name, parser] as const))(
  '%s: the time for a hostile text grows with its length',
  (_, parser) => {
    expect(slowOn(parser)).toEqual([])
  },
)

test('a parser whose time grows with the square of the length is noticed', () => {
  const squared = / +!/
  const found = slowOn({
    name: 'squared',
    most: 10_000,
    read: (text) => squared.test(text.replaceAll('!', '?')),
  })
  expect(found).toContainEqual(expect.stringMatching(/^spaces before a sign: \d\d\.\d times/))
})
