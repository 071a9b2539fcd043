/** Counters of a process, read by whoever shows them. Counting allocates nothing. */

/** What is counted under the names that come after there are too many. */
const OTHERS = 'other'

/** Counts the endings of what has a name, such as how letters of each kind ended. */
export class Tally<Ending extends string> {
  readonly #rows = new Map<string, Record<Ending, number>>()

  /** `most`: how many names are told apart. */
  constructor(
    readonly endings: readonly Ending[],
    private readonly most: number,
  ) {}

  add(name: string, ending: Ending, amount = 1): void {
    const row = this.#rows.get(name) ?? this.#newRow(name)
    row[ending] += amount
  }

  entries(): IterableIterator<[string, Readonly<Record<Ending, number>>]> {
    return this.#rows.entries()
  }

  #newRow(name: string): Record<Ending, number> {
    const isRoom = this.#rows.size < this.most - 1 || name === OTHERS
    return this.#rows.getOrInsertComputed(
      isRoom ? name : OTHERS,
      () => Object.fromEntries(this.endings.map((ending) => [ending, 0])) as Record<Ending, number>,
    )
  }
}

/** How many amounts were at most as large as each of some bounds. */
export class Spread {
  /** For each bound, and then for what is larger. Not cumulative. */
  readonly counts: number[]
  sum = 0

  /** `bounds`: in growing order. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  add(amount: number): void {
    const { bounds, counts } = this
    let index = 0
    while (index < bounds.length && amount > bounds[index]!) index++
    counts[index]!++
    this.sum += amount
  }
}
