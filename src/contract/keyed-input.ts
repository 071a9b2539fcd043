/** What an Idempotency-Key stands for, and the fields of inputs that are no part of it. */
import { Type as T, type TSchema } from '@sinclair/typebox'
import { onlyPeople } from './shapes.ts'

/**
 * A field of an input that says how the caller wants the answer, not what is to be done. It is no
 * part of the request that an Idempotency-Key stands for, so a repetition may change it.
 */
const outsideKey = <S extends TSchema>(schema: S): S => ({
  ...schema,
  'x-outside-key': true,
})

/** How long the caller of an awaited command waits. The agent's jobs wait in their own way. */
export const ReplyWait = T.Optional(
  onlyPeople(
    outsideKey(
      T.Integer({
        minimum: 0,
        maximum: 20,
        default: 20,
        examples: [20],
        description:
          'Seconds to wait for the outcome before 202; 0: not at all. Repetitions under an Idempotency-Key may change it.',
      }),
    ),
  ),
)

/** The fields of an input that an Idempotency-Key stands for. */
export const keyedInput = (
  { input: { properties } }: { input: TSchema },
  input: Record<string, unknown>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(input).filter(([name]) => properties[name]?.['x-outside-key'] !== true),
  )
