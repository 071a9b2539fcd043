/**
 * Where drafts and the agent's thoughts come from: a model if one is configured, and otherwise what
 * is built in.
 */
import { THINK_MS } from '#actors/work/agent/deps'
import type { Config } from '#config/config'
import { type Models, NO_MODEL } from '#domain/agent/job/model-choice'
import type { Log } from '#kernel/log'
import { createComposer } from '#port/model/composer/composer'
import type { Drafter } from '#port/model/drafter'
import type { OpenAiConnection } from '#port/model/openai/connection'
import { createOpenAiDrafter } from '#port/model/openai/drafter'
import { createOpenAiThinker } from '#port/model/openai/thinker'
import type { Thinker } from '#port/model/thinker'
import type { ModelWorker } from '#port/model/worker/computations'
import { openThread } from '#port/model/worker/thread'
import { openTexts, type Texts } from '#port/texts/texts'
import type { StartupContext } from './opening.ts'

const MODEL_CALL_MS = 80_000
/** How long a model may pause once it has begun to answer. */
const SILENCE_MS = 30_000

type Told = Pick<OpenAiConnection, 'called' | 'tracer'>

const drafterOf = (
  { openai }: Config,
  { worker, log, told }: { worker: ModelWorker; log: Log; told: Told },
): Drafter =>
  openai
    ? createOpenAiDrafter({ ...openai, timeoutMs: MODEL_CALL_MS, worker, log, ...told })
    : createComposer(worker)

const thinkerOf = ({ openai }: Config, log: Log, told: Told): Thinker | undefined =>
  openai &&
  createOpenAiThinker({ ...openai, timeoutMs: THINK_MS, silenceMs: SILENCE_MS, log, ...told })

const modelsOf = ({ openai }: Config): Models | typeof NO_MODEL =>
  openai ? { fast: openai.fast, reasoning: openai.reasoning, allow: openai.allow } : NO_MODEL

interface OpenModels {
  /** Reads texts that others may have written to do harm. */
  texts: Texts
  drafter: Drafter
  /** The agent's model. */
  thinker: Thinker | undefined
  models: Models | typeof NO_MODEL
}

export const openModels = ({
  config,
  log,
  meters,
  tracer,
  overrides,
  stack,
}: StartupContext): OpenModels => {
  const told = { called: meters?.called, tracer }
  const texts = overrides.texts ?? stack.use(openTexts())
  const drafter =
    overrides.drafter ?? drafterOf(config, { worker: stack.use(openThread()), log, told })
  return {
    texts,
    drafter,
    thinker: overrides.thinker ?? thinkerOf(config, log, told),
    models: modelsOf(config),
  }
}
