/** Reading one engagement and its earlier texts. */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { EngagementSchema, PossibleAction } from '../records/growth/engagement.ts'
import { LookSchema, lookingAtAccount } from '../records/growth/look.ts'
import { revisionRecord } from '../records/growth/revision.ts'
import { cursorLike, Id, NextCursor, nullable, page, record } from '../shapes.ts'
import { way } from '../way.ts'

const EngagementWithWay = record(
  {
    ...EngagementSchema.properties,
    actions: T.Array(
      record({
        ...PossibleAction.properties,
        message: nullable(T.String({ description: 'The reason in words.' })),
      }),
      { description: 'What the network lets programs do with the post.' },
    ),
    ...way,
  },
  { title: 'EngagementWithWay' },
)

export const engagementReading = {
  get: op.query(
    'GET /api/v1/growth/engagements/:id',
    'Read one engagement, with its whole way: the versions of its text, what was decided of it, and each try to send it, with what the network showed while it was in doubt.',
    { input: { id: Id }, output: record({ engagement: EngagementWithWay }) },
    { errors: ['not_found'] },
  ),
  look: op.prepared(
    'POST /api/v1/growth/engagements/:id/look',
    'Read the network now for an engagement that may have gone out elsewhere. It must have restored_as_of; a reply or quote is looked for on the timeline of the account, a like or repost at its post. ' +
      'Takes what it reads from the daily budget. Decides nothing and sends nothing: say with done, execute or reopen what happened. One read of a workspace at a time.',
    { input: { id: Id }, output: record({ look: LookSchema }) },
    lookingAtAccount,
  ),
  revisions: op.query(
    'GET /api/v1/growth/engagements/:id/revisions',
    'List the versions of the text of an engagement, oldest first: who wrote what, and when. Of more than 100, the first and the newest are kept.',
    {
      input: { id: Id, ...page, cursor: cursorLike('Mw') },
      output: record({ revisions: T.Array(revisionRecord.schema), next_cursor: NextCursor }),
    },
    { errors: ['not_found'] },
  ),
}
