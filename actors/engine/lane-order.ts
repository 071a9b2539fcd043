/** Decides whose turn it is while a workspace has more due work than is claimed at once. */
import type { Work } from '#store/engine/work'

type Group = Work['lane']

/**
 * The first group gets every other turn, and the others share the rest: of these, the group whose
 * last turn is longest ago goes first. A group with nothing to claim holds nobody up, because each
 * poll goes on to the next group.
 */
export class LaneOrder {
  readonly #first: readonly Group[]
  #others: readonly Group[]
  #isFirst = true

  constructor(groups: readonly Group[]) {
    this.#first = groups.slice(0, 1)
    this.#others = groups.slice(1)
  }

  /** All groups, in the order in which the next poll should try them. */
  get lanes(): readonly Group[] {
    return this.#isFirst ? [...this.#first, ...this.#others] : [...this.#others, ...this.#first]
  }

  /** A poll has found a row of this group. */
  had(group: Group): void {
    this.#isFirst = !this.#first.includes(group)
    if (this.#isFirst) this.#others = [...this.#others.filter((other) => other !== group), group]
  }
}
