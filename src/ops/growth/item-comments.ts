import type { itemComments } from '#contract/growth/item-comments'
import { newComment, requireDeletable } from '#domain/growth/drafting/comment'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { callerName } from '#store/app/names'
import { loadBy } from '#store/engine/load'
import { roleOf } from '#store/engine/principal'
import {
  commentCount,
  commentPart,
  commentsOfItem,
  deleteComment,
  insertComment,
} from '#store/growth/comments'
import { itemPart } from '#store/growth/items'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { authorOf } from './shared/author.ts'

const NONE = 'no such item'

export const itemCommentHandlers: Handlers<typeof itemComments> = {
  comment: loading(
    ({ id }, { principal }) => ({
      item: itemPart(id),
      total: commentCount(id),
      name: callerName(principal),
    }),
    ({ id, body }, context, { item, total, name }) => {
      found(item, NONE)
      const comment = newComment(newId(), {
        item_id: id,
        body,
        by: authorOf(context),
        total,
        now: context.gate.now,
      })
      const written_by = { ...comment.written_by, name: context.job ? null : name }
      return {
        reply: { comment: { ...comment, written_by } },
        effects: { writes: [insertComment(comment)] },
        auditDetail: { comment_id: comment.id },
      }
    },
  ),

  async comments({ id, ...input }, { read }) {
    const page = pageOf(input)
    const { item, comments } = await loadBy(read, {
      item: itemPart(id),
      comments: commentsOfItem(id, page),
    })
    found(item, NONE)
    const { rows, next_cursor } = pageResult(comments, page.limit)
    return { comments: rows, next_cursor }
  },

  uncomment: loading(
    ({ id, comment_id }) => ({ item: itemPart(id), comment: commentPart(id, comment_id) }),
    ({ comment_id }, context, { item, comment }) => {
      found(item, NONE)
      const named = found(comment, 'no such comment on this item')
      requireDeletable(named, {
        by: authorOf(context),
        role: roleOf(context.principal),
        personId: context.principal.member?.personId,
      })
      return {
        reply: { comment: named },
        effects: { writes: [deleteComment(comment_id)] },
        auditDetail: { comment_id },
      }
    },
  ),
}
