/**
 * `npm run bench:shares`: whether the time of an answer tells what a share token once was. The
 * kinds take turns at random, one request at a time. For each kind: median, 90th and 99th
 * percentile relative to those of unknown tokens, and how often a guess of it takes longer than one
 * at an unknown token; 50 % is no difference. The last row compares unknown tokens with unknown
 * tokens.
 */
import { createRandom, shuffle } from '#kernel/random'
import { optionsFrom, withTemplate } from '#test/faults/own-database'
import { guess, guesser, guessKinds, newToken } from '#test/support/agent/share-guesses'
import { testApp } from '#test/support/app'

const { guesses, seed } = optionsFrom({ guesses: 10_000, seed: 1 }, process.argv.slice(2))
const WARM = 500

const kinds = [...guessKinds, 'unknown again'] as const
type Timed = (typeof kinds)[number]

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!

/** How often a value of `one` is greater than one of `other`; ties count half. Both are sorted. */
const greater = (one: readonly number[], other: readonly number[]): number => {
  let [below, same, wins] = [0, 0, 0]
  for (const value of one) {
    while (below < other.length && other[below]! < value) below++
    same = below
    while (same < other.length && other[same] === value) same++
    wins += below + (same - below) / 2
  }
  return wins / (one.length * other.length)
}

const measure = async (): Promise<Map<Timed, number[]>> => {
  await using app = await testApp()
  const random = createRandom(String(seed))
  const { token } = await guesser(app, random)
  for (let count = 0; count < WARM; count++) await guess(app.url, newToken())
  const each = Math.ceil(guesses / kinds.length)
  const times = new Map<Timed, number[]>(kinds.map((kind) => [kind, []]))
  for (const kind of shuffle(
    random,
    kinds.flatMap((one) => Array<Timed>(each).fill(one)),
  )) {
    const given = token(kind === 'unknown again' ? 'unknown' : kind)
    const began = performance.now()
    await guess(app.url, given)
    times.get(kind)!.push(performance.now() - began)
  }
  for (const all of times.values()) all.sort((a, b) => a - b)
  return times
}

const times = await withTemplate(measure)
const unknown = times.get('unknown')!
console.log(
  `${guesses} guesses, seed ${seed}; unknown tokens: median ${at(unknown, 0.5).toFixed(2)} ms`,
)
for (const [kind, all] of times) {
  const ratios = [0.5, 0.9, 0.99].map((share) => (at(all, share) / at(unknown, share)).toFixed(3))
  console.log(
    `${kind.padEnd(14)} ${ratios.join('  ')}  longer in ${(100 * greater(all, unknown)).toFixed(1)} %`,
  )
}
process.exit(0)
