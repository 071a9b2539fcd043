/**
 * Gives whoever reads words of others the longest texts that reach it, hostile and at random, and
 * reports what takes too long.
 */
import fc from 'fast-check'
import { processorTime } from '#test/support/processor-time'
import { ATOMS, hostileTexts } from '#test/support/texts/hostile-texts'
import { type TextParser, textParsers } from '#test/support/texts/text-parsers'

export interface TextOptions {
  /** At random, for each parser. */
  texts: number
  seed: number
}

export interface TextFuzzed {
  name: string
  texts: number
  /** The longest that one took, in ms of processor time. */
  worst: number
  findings: string[]
}

/**
 * What others may have to wait for on the event loop, and in the thread for texts, in ms of
 * processor time.
 */
const MOST_MS = { loop: 50, thread: 1_000 }
const ROOM = 100

interface Wish {
  what: string
  text: string
}

const atoms = (most: number, least = 0) =>
  fc.array(fc.constantFrom(...ATOMS), { minLength: least, maxLength: most })

/** Something that repeats one to three atoms, between others. */
const wishes = ({ most }: TextParser, { texts, seed }: TextOptions): Wish[] => {
  const random = fc
    .sample(fc.tuple(atoms(2), atoms(3, 1), atoms(2)), { numRuns: texts, seed })
    .map(([before, unit, after]): Wish => {
      const repeated = unit.join('')
      const text =
        before.join('') +
        repeated.repeat(Math.max(1, Math.floor((most - ROOM) / repeated.length))) +
        after.join('')
      return {
        what: JSON.stringify([before, unit, after].map((all) => all.join(''))),
        text: text.slice(0, most),
      }
    })
  return [
    ...Object.entries(hostileTexts).map(([what, make]): Wish => ({ what, text: make(most) })),
    ...random,
  ]
}

const fuzzOne = (parser: TextParser, options: TextOptions): TextFuzzed => {
  const most = parser.isBeside ? MOST_MS.thread : MOST_MS.loop
  const result: TextFuzzed = { name: parser.name, texts: 0, worst: 0, findings: [] }
  for (const { what, text } of wishes(parser, options)) {
    const given = parser.prepare?.(text) ?? ''
    const took = processorTime(() => void parser.read(text, given)) / 1_000
    result.texts++
    result.worst = Math.max(result.worst, took)
    if (took > most) result.findings.push(`${what} takes ${took.toFixed(0)} ms, at most ${most}`)
  }
  return result
}

export const fuzzTexts = (
  options: TextOptions,
  onDone: (one: TextFuzzed) => void = () => {},
): TextFuzzed[] =>
  textParsers.map((parser) => {
    const one = fuzzOne(parser, options)
    onDone(one)
    return one
  })

/** The last line of a run. */
export const textSummaryOf = (results: readonly TextFuzzed[]): string => {
  const texts = results.reduce((sum, one) => sum + one.texts, 0)
  const worst = Math.max(
    ...results.filter(({ name }) => !name.startsWith('parts,')).map((one) => one.worst),
  )
  const slow = results.reduce((sum, { findings }) => sum + findings.length, 0)
  return `fuzz of texts: parsers=${results.length} texts=${texts} worst_ms=${worst.toFixed(0)} slow=${slow}`
}
