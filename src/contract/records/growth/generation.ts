/** What all records that a drafter writes have in common. */
import { Type as T } from '@sinclair/typebox'
import { GenerationStatus } from '../../generation.ts'
import { nullable, record } from '../../shapes.ts'

export const ModelUsageSchema = record({
  input_tokens: T.Integer(),
  output_tokens: T.Integer(),
  cost_micros: T.Integer(),
})

export const generationError = {
  type: 'text',
  shown: nullable(
    T.String({
      description:
        'Set when failed: generation_failed: <hint>, cancelled or enqueue_failed. While queued, plan_invalid:<reason> if it waits for billing.',
    }),
  ),
} as const

export const generationStatus = { type: 'text', shown: GenerationStatus } as const

/** Who wrote it, and what that cost. */
export const writtenBy = {
  model: {
    type: 'text',
    shown: nullable(
      T.String({
        description: 'What wrote it: a model name, or composer for the offline drafter.',
      }),
    ),
  },
  usage: { type: 'jsonb', shown: nullable(ModelUsageSchema) },
} as const
