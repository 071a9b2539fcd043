/** What a run beside the mailbox gives the letter that settles it. */
import type { Reached } from '#decisions/agent/toolbox'
import type { Refused } from '#domain/agent/job/answer'
import type { GivenPlaybook } from '#domain/agent/knowledge/playbook'
import type { ThinkFailure, Thought } from '#port/model/thinker'

/** `unknown`: it may have happened. */
export type Read =
  | { id: string; value: unknown }
  | { id: string; error: string }
  | { id: string; unknown: true }

/** A thought as the job keeps it. */
type KeptThought = Omit<Thought, 'left'> & { refused: Refused }

/** `stopped`: the process is ending, or the lane was recalled. */
/** The model, or the desk, has answered. */
interface Answered {
  kind: 'thought'
  thought: KeptThought
  /** The words of a person that the job answers. */
  typed: string
  /** Ids of memories, and playbooks, that it was given. */
  memoryIds: string[]
  playbooks: GivenPlaybook[]
  /** Where text of people outside came from that the answer itself contains. */
  foreign: string[]
  byDesk: boolean
  ms: number
}

export type AgentOutcome =
  | Answered
  | { kind: 'failed'; failure: ThinkFailure; retryAfterMs: number | undefined; ms: number }
  | { kind: 'read'; results: Read[] }
  | { kind: 'reached'; reached: Reached }
  | { kind: 'refused'; error: string }
  | { kind: 'done' }
  | { kind: 'stopped' }
