export interface Mutant {
  name: string
  file: string
  /** Stands in the file once. */
  from: string
  to: string
}
