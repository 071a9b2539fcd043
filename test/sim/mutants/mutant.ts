export interface Mutant {
  name: string
  file: string
  /** Stands in the file once. */
  from: string
  to: string
}

/** Mistakes in one file: each its name, and the text that another takes the place of. */
export const mutantsOf = (file: string, rows: readonly (readonly [name: string, from: string, to: string])[]): Mutant[] =>
  rows.map(([name, from, to]) => ({ name, file, from, to }))
