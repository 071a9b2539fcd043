/** Amounts by party, and in all. */
export class Amounts {
  total = 0
  readonly #of = new Map<string, number>()

  of(party: string): number {
    return this.#of.get(party) ?? 0
  }

  add(party: string, amount: number): void {
    this.total += amount
    const left = this.of(party) + amount
    if (left > 0) this.#of.set(party, left)
    else this.#of.delete(party)
  }
}

export const largestOf = (
  names: Iterable<string>,
  size: (name: string) => number,
): string | undefined => {
  let largest: string | undefined
  for (const name of names) if (largest === undefined || size(name) > size(largest)) largest = name
  return largest
}
