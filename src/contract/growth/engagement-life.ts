/**
 * The life of an engagement before it goes out: changing its text, taking back decisions, deleting
 * it.
 */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { OneEngagement } from '../records/growth/engagement.ts'
import { Id } from '../shapes.ts'

const id = Id
const changing = { errors: ['not_found', 'conflict'], roles: ['editor', 'approver'] } as const
const recalling = { ...changing, recalls: true } as const

export const engagementLife = {
  edit: op.command(
    'PATCH /api/v1/growth/engagements/:id',
    'Change the text of a reply or quote. An approved one becomes a draft again: approve its new text. One that is about to be sent is ' +
      'taken back; 409 with the detail in_flight if it is too late for that. With revision, 409 if the text has changed since you read it.',
    {
      input: {
        id,
        body: T.String({
          minLength: 1,
          maxLength: 25_000,
          examples: ['We call before we are late, not after.'],
        }),
        revision: T.Optional(
          T.Integer({ minimum: 1, description: 'The revision that you have read.' }),
        ),
      },
      output: OneEngagement,
    },
    recalling,
  ),
  reopen: op.command(
    'POST /api/v1/growth/engagements/:id/reopen',
    'Make a draft of an engagement again: an approved or rejected one, or one that the network refused. One that is about to be sent is ' +
      'taken back; 409 with the detail in_flight if it is too late for that, or if another of the same action on the post is open. ' +
      'A draft is returned as it is.',
    { input: { id }, output: OneEngagement },
    { ...recalling, repeatable: true },
  ),
  done: op.command(
    'POST /api/v1/growth/engagements/:id/done',
    'Mark an engagement executed that you did by hand, or found on the network. Sends nothing.',
    {
      input: { id, url: T.Optional(T.String({ format: 'uri', maxLength: 2_000 })) },
      output: OneEngagement,
    },
    { errors: ['not_found', 'conflict'], roles: ['approver'], destructive: true },
  ),
  remove: op.command(
    'DELETE /api/v1/growth/engagements/:id',
    'Delete an engagement that never reached the network. Its signal is open again, and the post free for another. Restore it within ' +
      '30 days; then it is erased, and the audit log keeps what was done. One that is about to be sent is taken back.',
    { input: { id }, output: OneEngagement },
    { ...recalling, destructive: true },
  ),
  restore: op.command(
    'POST /api/v1/growth/engagements/:id/restore',
    'Restore a deleted engagement. It is a draft if it was approved; otherwise it is in the state in which it was deleted. ' +
      '409 if another of the same action on the post is open.',
    { input: { id }, output: OneEngagement },
    { ...changing, repeatable: true },
  ),
}
