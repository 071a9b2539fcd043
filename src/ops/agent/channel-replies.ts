import type { channelReplies } from '#contract/agent/channel-replies'
import { replyWork } from '#decisions/agent/channel-replies'
import { discarded, sent } from '#domain/agent/channel-reply'
import { replyView, type ShownReply } from '#domain/agent/channel-reply-view'
import { found } from '#kernel/errors'
import { listReplies, saveReply, shownReplyPart } from '#store/agent/channel-replies'
import { loadBy } from '#store/engine/load'
import { personOf } from '#store/engine/principal'
import type { CommandContext, Handlers } from '../call.ts'
import { loading } from '../loading.ts'
import { pageOf, pageResult } from '../paging.ts'

const the = (reply: ShownReply | undefined): ShownReply => found(reply, 'no such reply')

const decisionOf = ({ gate: { now }, principal }: CommandContext) => ({ by: personOf(principal)!, now })

export const channelReplyHandlers = ({ publicUrl }: { publicUrl: string }): Handlers<typeof channelReplies> => {
  const view = (reply: ShownReply) => replyView(reply, publicUrl)
  return {
    async list({ status, connectionId, jobId, ...input }, { read }) {
      const page = pageOf(input)
      const { rows, next_cursor } = pageResult(
        await read(listReplies({ ...page, status, connection: connectionId, job: jobId })),
        page.limit,
      )
      return { replies: rows.map(view), nextCursor: next_cursor }
    },

    async get({ id }, { read }) {
      const { reply } = await loadBy(read, { reply: shownReplyPart(id) })
      return { reply: view(the(reply)) }
    },

    send: loading(
      ({ id }) => ({ before: shownReplyPart(id) }),
      ({ text }, context, { before }) => {
        const { channel, ...reply } = the(before)
        const after = sent(reply, { ...decisionOf(context), text })
        const shown = { reply: view({ ...after, channel }) }
        if (after === reply) return { reply: shown, unchanged: true }
        const effects = { writes: [saveReply(after)], work: [replyWork(after, context.gate.now)] }
        return { reply: shown, effects, auditDetail: { ...traceOf(after), edited: after.text !== reply.text } }
      },
    ),

    discard: loading(
      ({ id }) => ({ before: shownReplyPart(id) }),
      (_, context, { before }) => {
        const { channel, ...reply } = the(before)
        const after = discarded(reply, decisionOf(context))
        const shown = { reply: view({ ...after, channel }) }
        if (after === reply) return { reply: shown, unchanged: true }
        return { reply: shown, effects: { writes: [saveReply(after)] }, auditDetail: traceOf(after) }
      },
    ),
  }
}

const traceOf = ({ connection_id, job_id }: ShownReply | Omit<ShownReply, 'channel'>) => ({ connection_id, job_id })
