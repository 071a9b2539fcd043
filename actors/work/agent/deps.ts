import type { ToolBox } from '#decisions/agent/toolbox'
import type { PriceOf } from '#domain/agent/job/budget'
import type { Job } from '#domain/agent/job/job'
import type { Models, NO_MODEL } from '#domain/agent/job/model-choice'
import type { Failpoints } from '#kernel/failpoint'
import type { FairLimit } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { Desk } from '#port/model/desk/desk'
import type { Thinker } from '#port/model/thinker'
import type { Db } from '#store/engine/db'
import type { Letter } from '../../engine/letter.ts'

type Spoken = Pick<Job, 'id' | 'conversation_id'>

/** Told of the text of models while it arrives. It is not stored. */
interface JobBus {
  /** `at`: where the piece begins in the text of the step. */
  text(job: Spoken, piece: { step: number; at: number; text: string }): void
  /** The text of a step so far does not count: its call begins anew. */
  reset(job: Spoken, step: number): void
  /** The call of the model is over. */
  silent(job: Spoken): void
}

export interface AgentDeps {
  /** Made of operations. */
  toolBox(): ToolBox
  /** What jobs that begin by themselves may run on. */
  models(): Models | typeof NO_MODEL
  /** The model, if one is set. */
  thinker: Thinker | undefined
  /** Carries out commands in the words of the command line. */
  desk: Desk
  priceOf(model: string): PriceOf
  /** What the model takes at once, in tokens. */
  contextTokens: number
  db: Pick<Db, 'read'>
  ask<R>(tenantId: string, letter: Letter<R>): Promise<R>
  bus: JobBus
  log: Log
  failpoints: Failpoints
  /** The base URL of links, without a trailing slash. */
  publicUrl: string
  /** Model calls of this process, granted to tenants in turn; shared with drafting. */
  modelCalls: FairLimit
  /** How long a tool beside the mailbox may take. */
  toolMs: number
}

/** A model's call may last this long; the lease of a claim lasts longer. */
export const THINK_MS = 80_000
/** How long a call may wait for its turn among those of the process. */
export const MODEL_TURN_MS = 170_000
