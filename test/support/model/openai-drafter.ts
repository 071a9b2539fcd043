/**
 * The model drafter as tests use it: on a fake provider, silent, with its computations in this
 * process.
 */
import { createLog } from '#kernel/log'
import { type Drafter, GenerationError } from '#port/model/drafter'
import { createOpenAiDrafter, type OpenAiDrafterOptions } from '#port/model/openai/drafter'
import { briefWith, neverAborts } from './briefs.ts'
import { type Behaviour, createFakeOpenAi } from './fake-openai.ts'
import { inlineWorker } from './inline-worker.ts'

export const API_KEY = 'sk-test-4711-do-not-log'

export const drafterOn = (baseUrl: string, options: Partial<OpenAiDrafterOptions> = {}): Drafter =>
  createOpenAiDrafter({
    apiKey: API_KEY,
    baseUrl,
    fast: 'gpt-5-mini',
    reasoning: 'gpt-5',
    timeoutMs: 5_000,
    worker: inlineWorker,
    log: createLog('silent'),
    ...options,
  })

/** The hint that a script of answers leads to. */
export const hintAfter = async (
  script: Behaviour[],
  {
    options = {},
    brief = briefWith(),
  }: { options?: Partial<OpenAiDrafterOptions>; brief?: ReturnType<typeof briefWith> } = {},
) => {
  await using fake = await createFakeOpenAi(...script)
  const cause = await drafterOn(fake.url, options)
    .draft(brief, neverAborts())
    .catch((error: unknown) => error)
  return {
    hint: cause instanceof GenerationError ? cause.hint : String(cause),
    calls: fake.calls.length,
  }
}
