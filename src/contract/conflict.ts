/** What a 409 says beside its code, as the documents describe it. */
import { Type as T } from '@sinclair/typebox'
import { type ConflictReason, conflictReasons } from '#kernel/conflict'
import { NamedAuthorSchema, nullable, oneOf, Time } from './shapes.ts'

const reasons = Object.keys(conflictReasons) as ConflictReason[]

/** Only a 409 has them. */
export const conflictFields = {
  reason: T.Optional(
    oneOf(reasons, {
      description: `Why, with every 409:\n${reasons.map((reason) => `- \`${reason}\`: ${conflictReasons[reason]}`).join('\n')}`,
    }),
  ),
  by: T.Optional(NamedAuthorSchema),
  at: T.Optional(Time),
  next_free_at: T.Optional(nullable(Time)),
}
