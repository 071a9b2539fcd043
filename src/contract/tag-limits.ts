/** Kept apart from the operations, so that the console's bundle does not need those. */
export const tagLimits = {
  /** Characters of one tag. */
  length: 40,
  /** Of one item. */
  tags: 20,
}
