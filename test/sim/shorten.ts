/**
 * The shortest part of a failing list, in order, that still fails: parts are left out, halves
 * first, then ever smaller ones.
 */
export const shortest = async <T>(
  all: readonly T[],
  fails: (some: readonly T[]) => Promise<boolean>,
): Promise<T[]> => {
  let kept = [...all]
  for (let size = Math.ceil(kept.length / 2); size >= 1; ) {
    const before = kept.length
    for (let at = 0; at < kept.length; ) {
      const rest = [...kept.slice(0, at), ...kept.slice(at + size)]
      if (await fails(rest)) kept = rest
      else at += size
    }
    // What could be left out now may make more of the same size needless.
    if (size > 1 || kept.length === before) size = size === 1 ? 0 : Math.ceil(size / 2)
  }
  return kept
}
