/** What the network shows now of a record that may have gone out elsewhere. */
import { Type as T } from '@sinclair/typebox'
import { oneOf, record, Time } from '../../shapes.ts'
import { ShownPostSchema } from './attempt.ts'

/** The most posts that a look shows. */
export const MOST_SHOWN = 100

export const LookSchema = record(
  {
    read_at: Time,
    since: {
      ...Time,
      description: 'How far back the account was read: from shortly before restored_as_of.',
    },
    complete: T.Boolean({
      description:
        'False if more may stand there than was read. Then nothing proves that it is not there.',
    }),
    saw: oneOf(['it', 'nothing', 'unclear'], {
      description:
        'it: a post with its text is there, or the like or repost was made. unclear: a post is there that may be this one.',
    }),
    posts: T.Array(
      record(
        {
          ...ShownPostSchema.properties,
          is_candidate: T.Boolean({ description: 'True if it may be this one.' }),
        },
        { title: 'LookedAtPost' },
      ),
      {
        maxItems: MOST_SHOWN,
        description: `The posts of the account since then, newest first: those that may be this one, and the newest others, at most ${MOST_SHOWN}. Empty for a like or repost, which is looked up at its post.`,
      },
    ),
  },
  { title: 'Look' },
)

/** Who may look, and what can be in the way. */
export const lookingAtAccount = {
  errors: ['not_found', 'conflict', 'x_not_connected', 'network_error', 'x_read_budget_exhausted'],
  roles: ['approver'],
} as const
