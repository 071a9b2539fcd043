/** The registered types of tasks and their inputs. */
import { Type as T, type TSchema } from '@sinclair/typebox'
import { NOT_BLANK } from './shapes.ts'

const strict = { additionalProperties: false }

/** Lengths are in characters. */
const text = T.String({ minLength: 1, maxLength: 50_000, pattern: NOT_BLANK })
const name = T.String({ minLength: 1, maxLength: 80, pattern: NOT_BLANK })

const Label = T.Union([
  name,
  T.Object(
    {
      name,
      description: T.Optional(T.String({ maxLength: 500 })),
      examples: T.Optional(T.Array(T.String({ minLength: 1, maxLength: 1_000 }), { maxItems: 20 })),
    },
    strict,
  ),
])

export const taskTypes = {
  extract_action_items: T.Object({ text }, strict),
  classify_text: T.Object({ text, labels: T.Array(Label, { minItems: 2, maxItems: 50 }) }, strict),
} as const satisfies Record<string, TSchema>

export type TaskTypeName = keyof typeof taskTypes

export const isTaskType = (type: string): type is TaskTypeName => Object.hasOwn(taskTypes, type)
