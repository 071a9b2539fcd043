/** What a run beside the mailbox gives the letter that settles it. */
import type { Reached } from '#decisions/agent/toolbox'
import type { ThinkFailure, Thought } from '#port/model/thinker'

/** `unknown`: it may have happened. */
export type Read = { id: string; value: unknown } | { id: string; error: string } | { id: string; unknown: true }

/** `stopped`: the process is ending, or the lane was recalled. */
export type AgentOutcome =
  | { kind: 'thought'; thought: Thought; typed: string; recalled: string[]; byDesk: boolean; ms: number }
  | { kind: 'failed'; failure: ThinkFailure; retryAfterMs: number | undefined; ms: number }
  | { kind: 'read'; results: Read[] }
  | { kind: 'reached'; reached: Reached }
  | { kind: 'refused'; error: string }
  | { kind: 'done' }
  | { kind: 'stopped' }
