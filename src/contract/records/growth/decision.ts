/** The last decision on a record that people decide about, as it is kept and as it is shown. */
import { Type as T } from '@sinclair/typebox'
import { AuthorSchema, NamedAuthorSchema, nullable, oneOf, record, Time } from '../../shapes.ts'

const ALLOWED = 'Who allowed it, if an agent did it by a call that a person had to allow.'

/** `what`: all that can be decided. The row holds who allowed an agent only where somebody did. */
export const decisionField = <const What extends string>(what: readonly What[]) =>
  ({
    type: 'jsonb',
    of: record({
      what: oneOf(what),
      by: AuthorSchema,
      allowed_by: T.Optional(AuthorSchema),
      at: Time,
    }),
    null: true,
    shown: nullable(
      record(
        {
          what: oneOf(what),
          by: NamedAuthorSchema,
          allowed_by: nullable(NamedAuthorSchema, { description: ALLOWED }),
          at: Time,
        },
        { description: 'The last decision on it.' },
      ),
    ),
  }) as const
