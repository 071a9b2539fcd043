export interface PostingOptions {
  items: number
  kills: number
  workspaces: number
  /** Of the items, those that are edited or opened again within 50 ms of being due. */
  edits: number
  /** Of all workspaces together. */
  clients: number
  seed: number
  /** As SANDBOX_FAULTS, without a seed. */
  faults: string
  /**
   * `counted`: the run ends when the machine has settled every doubt or given it to a person, a
   * minute after the load.
   */
  doubts: 'counted' | 'left'
}

const SEEDS = 2 ** 32

/**
 * Each start of a process has its own sequence of faults: with the same one again, every process
 * would begin alike.
 */
export const faultsOf = (
  { seed, faults }: Pick<PostingOptions, 'seed' | 'faults'>,
  nth: number,
): string => `${faults};seed=${(seed * 1_000_003 + nth) % SEEDS}`
