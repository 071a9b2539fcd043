/** The model drafter as tests use it: on a fake provider, silent, with its computations in this process. */
import { createLog } from '#kernel/log'
import type { Drafter } from '#port/model/drafter'
import { createOpenAiDrafter, type OpenAiDrafterOptions } from '#port/model/openai/drafter'
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
