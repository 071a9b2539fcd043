/** The mark of what may have gone out elsewhere. */
import { Type as T } from '@sinclair/typebox'
import { nullable, Time } from '../../shapes.ts'

export const restoredField = {
  type: 'timestamp with time zone',
  shown: nullable({
    ...Time,
    description:
      'Set while a person must say what became of it: it was approved before the backup or copy of that time from which this deployment was made, so it may have gone out elsewhere. Nothing sends it meanwhile.',
  }),
} as const

/** A filter of lists. */
export const OnlyRestored = T.Literal(true, {
  description: 'Only where restored_as_of is set.',
})
