/**
 * How a letter ended: committed; refused by a rule; its caller had given up; its workspace had
 * moved to another process; or it failed, which is a mistake or an outage.
 */
export type LetterEnding = 'done' | 'refused' | 'gone' | 'moved' | 'failed'

/** Counts what the engine does. Called for each letter, so it must be quick, and never throw. */
export interface Meter {
  /** `ms`: since it was posted. */
  letter(name: string, ending: LetterEnding, ms: number): void
  /** Of a row of work of this kind: it begins to run here, its lane threw, it no longer runs. */
  work(kind: string, what: 'claimed' | 'crashed' | 'ended'): void
}
