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

/** Gets the text of models as it arrives. The text is not stored. */
interface JobBus {
  /** `at`: the offset of the piece in the step's text. */
  text(job: Spoken, piece: { step: number; at: number; text: string }): void
  /** The step's text so far is void, because its call begins again. */
  reset(job: Spoken, step: number): void
  /** The model call is over. */
  silent(job: Spoken): void
}

export interface AgentDeps {
  /** The operations as tools. */
  toolBox(): ToolBox
  /** The configuration for jobs that begin by themselves. */
  models(): Models | typeof NO_MODEL
  /** The model, if one is configured. */
  thinker: Thinker | undefined
  /** Carries out commands in the syntax of the command line. */
  desk: Desk
  priceOf(model: string): PriceOf
  /** The size of the model's context, in tokens. */
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
  /** How long a tool may run beside the mailbox. */
  toolMs: number
}

/** How long a model call may last; the lease of a claim lasts longer. */
export const THINK_MS = 80_000
/** How long a call may wait for its turn among those of the process. */
export const MODEL_TURN_MS = 170_000
