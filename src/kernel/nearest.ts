/** The number of insertions, deletions and replacements between two words. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(
        next[j - 1]! + 1,
        row[j]! + 1,
        row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
      )
    row = next
  }
  return row[b.length]!
}

const LONGEST_NAME = 64

/** The known name that was probably meant; undefined if none is close. */
export const nearest = (name: string, known: readonly string[]): string | undefined => {
  const word = name.slice(0, LONGEST_NAME)
  const ranked = known
    .map((field) => ({ field, away: distance(word.toLowerCase(), field.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
  const best = ranked[0]
  if (!best || best.away > Math.max(2, word.length / 2)) return undefined
  // Once the letter of a one-letter name is changed, nothing of the name is left. A letter may have
  // been added to it, though.
  const isLonger = best.away === 1 && word.length > best.field.length
  return isLonger || best.away < best.field.length ? best.field : undefined
}
