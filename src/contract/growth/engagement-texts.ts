/** The life of an engagement before it goes out: changing its text, and taking back what was decided. */
import { Type as T } from '@sinclair/typebox'
import { OneEngagement } from '../engagement-record.ts'
import { op } from '../op.ts'
import { Id } from '../shapes.ts'

const id = Id
const writing = { errors: ['not_found', 'conflict'], roles: ['editor', 'approver'] } as const

export const engagementTexts = {
  edit: op.command(
    'PATCH /api/v1/growth/engagements/:id',
    'Change the text of a reply or quote. An approved one becomes a draft again: approve its new text. ' +
      'With revision, 409 if the text has changed since you read it.',
    {
      input: {
        id,
        body: T.String({ minLength: 1, maxLength: 25_000, examples: ['We call before we are late, not after.'] }),
        revision: T.Optional(T.Integer({ minimum: 1, description: 'The revision that you have read.' })),
      },
      output: OneEngagement,
    },
    writing,
  ),
  reopen: op.command(
    'POST /api/v1/growth/engagements/:id/reopen',
    'Make a draft of an engagement that is approved, rejected or was refused by the network. ' +
      '409 if another of the same action on the post is open. A draft stays as it is.',
    { input: { id }, output: OneEngagement },
    { ...writing, repeatable: true },
  ),
  done: op.command(
    'POST /api/v1/growth/engagements/:id/done',
    'Mark an engagement executed that you did by hand, or found on the network. Sends nothing.',
    { input: { id, url: T.Optional(T.String({ format: 'uri', maxLength: 2_000 })) }, output: OneEngagement },
    { errors: ['not_found', 'conflict'], roles: ['approver'], destructive: true },
  ),
}
