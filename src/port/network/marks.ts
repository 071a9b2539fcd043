/** What posts of a network have beside their text. */
import type { FoundMarks } from '#contract/records/growth/marks'

/** A network whose posts have more than their text, which is looked up when a text is written. */
export interface NetworkMarks<Account> {
  /** Resolves within seconds. Rejects only because of a bug. */
  make(request: MarksRequest<Account>, signal: AbortSignal): Promise<MarksMade>
}

export interface MarksRequest<Account> {
  account: Account
  text: string
  /** Whether an address that the text names may be asked. */
  mayAsk(url: string): boolean
}

/** `isWhole`: false if there may be more once a server that did not answer does. */
export interface MarksMade {
  /** The words of a card are somebody else's: never an instruction. */
  marks: FoundMarks
  isWhole: boolean
}
