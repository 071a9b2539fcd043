/** Which model answers a message. Pure. */
import type { Job } from './job.ts'

/** The models of the deployment. `allow`: further names that callers may choose. */
export interface Models {
  fast: string
  reasoning: string
  allow: readonly string[]
}

/** `desk`: no model is configured. */
export const NO_MODEL = 'desk'

/**
 * `fast` and `reasoning` name a tier; without either, the tier is `usual`. Other names are accepted
 * but run only if the deployment allows them: otherwise anybody with a key could choose the most
 * expensive model.
 */
export const chooseModel = (
  asked: string | undefined,
  models: Models | typeof NO_MODEL,
  usual: Job['tier'] = 'reasoning',
): Pick<Job, 'tier' | 'asked_model' | 'model'> => {
  const named =
    models === NO_MODEL
      ? undefined
      : [models.fast, models.reasoning, ...models.allow].find((name) => name === asked)
  const tier = tierOf(asked, models) ?? usual
  return {
    tier,
    asked_model: asked ?? null,
    model: models === NO_MODEL ? NO_MODEL : (named ?? models[tier]),
  }
}

const tierOf = (
  asked: string | undefined,
  models: Models | typeof NO_MODEL,
): Job['tier'] | undefined => {
  if (asked === 'fast' || asked === 'reasoning') return asked
  if (asked === undefined || models === NO_MODEL) return undefined
  return asked === models.fast ? 'fast' : asked === models.reasoning ? 'reasoning' : undefined
}
