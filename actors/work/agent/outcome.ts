/** What a run beside the mailbox hands to the letter that settles it. */
import type { Reached } from '#decisions/agent/toolbox'
import type { GivenThought } from '#domain/agent/job/model-answer'
import type { ModelFailure } from '#domain/agent/job/model-failure'
import type { Given } from '#domain/agent/job/tool-answer'

export type Read = { id: string } & Given

/** `stopped`: the process is stopping, or the lane was recalled. */
export type AgentOutcome =
  | ({ kind: 'thought' } & GivenThought)
  | ({ kind: 'failed' } & ModelFailure)
  | { kind: 'read'; results: Read[] }
  | { kind: 'reached'; reached: Reached }
  | { kind: 'refused'; error: string }
  | { kind: 'done' }
  | { kind: 'stopped' }
