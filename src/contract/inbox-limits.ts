/** Kept apart from the operations, so that the console's bundle does not need those. */
export const inboxLimits = {
  /** A list of more is worked through, not counted. */
  counted: 1_000,
  /** More would make a search more exact, but nobody needs them. */
  words: 12,
  /** Characters of a title. */
  title: 200,
}
