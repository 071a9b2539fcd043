/** The mark of a text: the first digits of its hash. The same wherever it is shown. */
export const markOf = (hash: string | null | undefined): string =>
  hash ? `#${hash.slice(0, 8)}` : ''
