/** What a team says about an item before it approves it. */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { commentRecord } from '../records/growth/comment.ts'
import { Id, NextCursor, NOT_BLANK, page, record } from '../shapes.ts'

const Comment = commentRecord.schema
const OneComment = record({ comment: Comment })
const roles = ['editor', 'approver'] as const

export const itemComments = {
  comment: op.command(
    'POST /api/v1/growth/items/:id/comments',
    'Comment on an item, in whatever state it is. Comments are for the team and never sent. At most 500 on an item.',
    {
      input: { id: Id, body: T.String({ minLength: 1, maxLength: 4_000, pattern: NOT_BLANK }) },
      output: OneComment,
    },
    { status: 201, errors: ['not_found', 'conflict'], roles },
  ),
  comments: op.query(
    'GET /api/v1/growth/items/:id/comments',
    'List the comments on an item, newest first, with the reasons for which it was rejected.',
    {
      input: { id: Id, ...page },
      output: record({ comments: T.Array(Comment), next_cursor: NextCursor }),
    },
    { errors: ['not_found'] },
  ),
  uncomment: op.command(
    'DELETE /api/v1/growth/items/:id/comments/:comment_id',
    'Delete a comment. Editors delete their own; approvers and owners any.',
    { input: { id: Id, comment_id: Id }, output: OneComment },
    { errors: ['not_found'], roles, destructive: true },
  ),
}
