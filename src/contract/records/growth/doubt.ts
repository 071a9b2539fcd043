/** Why it is not known whether a send took place, and what settles that. */
import { nullable, oneOf, record, Time } from '../../shapes.ts'

export const doubtCauses = [
  'server_error',
  'no_answer',
  'unclear_answer',
  'process_stopped',
  'restored',
] as const

/** Without a title, so that tool lists show only its type. */
export const DoubtSchema = record(
  {
    cause: oneOf(doubtCauses, {
      description:
        'server_error: the network returned a 5xx error. no_answer: the request timed out or the connection broke. restored: it may have gone out from the deployment that this one was restored or copied from.',
    }),
    resolves: oneOf(['by_itself', 'by_person'], {
      description:
        'by_itself: the network guarantees how late it applies a request that it answered with an error. If complete reads of the timeline after that time do not show the post, the item returns to approved, unscheduled; only a new request sends it. by_person: if the reads do not show the post, a person must check.',
    }),
    next_read_at: nullable(Time),
  },
  {
    description:
      'Set while publish_unconfirmed: why it is unknown whether the post went out, what settles it, and when the timeline is read next (null when no more reads are planned or automation is paused).',
  },
)
