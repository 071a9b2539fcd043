/** Uniform numbers in [0, 1), the same sequence for the same seed. */
export type Random = () => number

/** mulberry32 (Tommy Ettinger, public domain): 32 bits of state. */
export const uniform = (seed: number): Random => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Starts from the FNV-1a hash of `seed`; the same on every machine. */
export const createRandom = (seed: string): Random => {
  let hash = 0x811c9dc5
  for (const character of seed) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return uniform(hash)
}

/** One of `choices` at random; undefined when there is none. */
export const pick = <T>(random: Random, choices: readonly T[]): T | undefined =>
  choices[Math.floor(random() * choices.length)]

/** The choices in random order. */
export const shuffle = <T>(random: Random, choices: readonly T[]): T[] =>
  choices
    .map((choice) => ({ choice, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ choice }) => choice)

/** A few of the choices in random order, without shuffling all of them. */
export const fewOf = <T>(random: Random, choices: readonly T[], count: number): T[] => {
  const keys = Float64Array.from(choices, () => random())
  const few: T[] = []
  while (few.length < Math.min(count, choices.length)) {
    const at = keys.reduce((least, key, index) => (key < (keys[least] ?? 1) ? index : least), 0)
    few.push(...choices.slice(at, at + 1))
    keys[at] = 1
  }
  return few
}

/** The items in random order, the wanted ones first. */
export const wantedFirst = <T>(
  random: Random,
  items: readonly T[],
  isWanted: (item: T) => boolean,
): T[] => {
  const { first = [], rest = [] } = Object.groupBy(shuffle(random, items), (item) =>
    isWanted(item) ? 'first' : 'rest',
  )
  return [...first, ...rest]
}

/**
 * At most `most` of the items, the wanted ones first. If there are few enough, they stay in order
 * and nothing is drawn.
 */
export const sampleOf = <T>(
  random: Random,
  items: readonly T[],
  { most, wanted = () => false }: { most: number; wanted?: (item: T) => boolean },
): readonly T[] =>
  items.length <= most ? items : wantedFirst(random, items, wanted).slice(0, most)

/** An index drawn in proportion to the weights; -1 when all are zero. */
export const drawIndex = (random: Random, weights: readonly number[]): number => {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total <= 0) return -1
  let rest = random() * total
  for (const [index, weight] of weights.entries()) {
    rest -= weight
    if (rest < 0) return index
  }
  return weights.findLastIndex((weight) => weight > 0)
}
