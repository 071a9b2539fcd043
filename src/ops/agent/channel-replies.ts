import type { channelReplies } from '#contract/agent/channel-replies'
import { replyWork } from '#decisions/agent/channel-replies'
import type { ChannelReply } from '#domain/agent/channel/reply'
import {
  discardReply,
  isOnTheWire,
  recallReply,
  releaseReply,
  settledByPerson,
} from '#domain/agent/channel/reply-decisions'
import { readable, requireReadable } from '#domain/agent/channel/reply-parts'
import { type Beside, replyView, type ShownReply } from '#domain/agent/channel/reply-view'
import { fail, found } from '#kernel/errors'
import type { Texts } from '#port/texts/texts'
import { listReplies, saveReply, shownReplyPart } from '#store/agent/channel-replies'
import { loadBy } from '#store/engine/load'
import { partyOf, personOf } from '#store/engine/principal'
import { workFor } from '#store/engine/work'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

const requireReply = (reply: ShownReply | undefined): ShownReply =>
  readable(found(reply, 'no such reply'))

/** The reply as it is kept, and what it is shown with. */
const apart = ({
  channel,
  asked,
  is_hidden,
  is_gone,
  ...reply
}: ShownReply): [ChannelReply, Beside] => [reply, { channel, asked, is_hidden, is_gone }]

const decisionOf = ({ gate: { now }, principal }: CommandContext) => ({
  by: personOf(principal)!,
  now,
})

interface Deps {
  publicUrl: string
  texts: Texts
}

/** Nobody waits longer for what is only shown. */
const FORM_MS = 5_000

/**
 * What the text of a held reply becomes in its channel; null if there is none to show, or it cannot
 * be computed in time. It may be the words of somebody who wants to do harm, so it is not computed
 * here.
 */
const messagesOf = async (
  { status, channel, text, is_hidden }: ShownReply,
  texts: Texts,
  tenantId: string,
): Promise<string[] | null> => {
  if (status !== 'held' || is_hidden) return null
  const signal = AbortSignal.timeout(FORM_MS)
  try {
    return (await texts.compute(tenantId, { name: 'partsOf', input: [channel, text] }, signal))
      .texts
  } catch {
    return null
  }
}

export const channelReplyHandlers = ({
  publicUrl,
  texts,
}: Deps): Handlers<typeof channelReplies> => {
  const view = (reply: ShownReply) => replyView(reply, publicUrl)
  return {
    async list({ status, connectionId, jobId, ...input }, { read, principal }) {
      const page = pageOf(input)
      const { rows, next_cursor } = pageResult(
        await read(
          listReplies({
            ...page,
            status,
            connection: connectionId,
            job: jobId,
            as: partyOf(principal),
          }),
        ),
        page.limit,
      )
      return { replies: rows.map(view), nextCursor: next_cursor }
    },

    async get({ id }, { read, principal, tenantId }) {
      const loaded = await loadBy(read, { reply: shownReplyPart(id, partyOf(principal)) })
      const reply = requireReply(loaded.reply)
      return { reply: view(reply), messages: await messagesOf(reply, texts, tenantId) }
    },

    send: loading(
      ({ id }, { principal }) => ({ before: shownReplyPart(id, partyOf(principal)) }),
      ({ text, expect_hash: seen }, context, { before }) => {
        const [reply, beside] = apart(requireReply(before))
        if (beside.is_gone)
          fail('conflict', 'cannot send: the conversation of the reply was deleted', {
            reason: 'missing_prerequisite',
          })
        requireReadable(before!)
        const after = releaseReply(reply, { ...decisionOf(context), text, seen })
        const shown = { reply: view({ ...after, ...beside }) }
        if (after === reply) return { reply: shown, unchanged: true }
        const effects = { writes: [saveReply(after)], work: [sendingWork(after, context.gate.now)] }
        return {
          reply: shown,
          effects,
          auditDetail: { ...traceOf(after), edited: after.text !== reply.text },
        }
      },
    ),

    ...ending(view),
  }
}

type All = Handlers<typeof channelReplies>
type View = (reply: ShownReply) => ReturnType<typeof replyView>

/** What a person decides about a reply that is on its way, or may have arrived. */
const ending = (view: View): Pick<All, 'discard' | 'settle'> => ({
  discard: loading(
    ({ id }, { principal }) => ({
      before: shownReplyPart(id, partyOf(principal)),
      work: workFor('channel_reply', id),
    }),
    (_, context, { before, work }) => {
      const [reply, beside] = apart(requireReply(before))
      // A part that is not on the wire yet is not sent any more.
      const isRecalled = context.lanes.recall(({ id }) => id === work?.id).length > 0
      const now = isRecalled ? recallReply(reply) : reply
      const after = discardReply(now, decisionOf(context))
      const shown = {
        reply: view({ ...after, ...beside }),
        in_flight: onTheWire(after),
      }
      if (after === now) return { reply: shown, unchanged: true }
      const settled = work?.state === 'queued' ? [work.id] : []
      return {
        reply: shown,
        effects: { writes: [saveReply(after)], settled },
        auditDetail: { ...traceOf(after), status: after.status },
      }
    },
  ),

  settle: loading(
    ({ id }, { principal }) => ({ before: shownReplyPart(id, partyOf(principal)) }),
    ({ outcome, updatedAt: seen }, context, { before }) => {
      const [reply, beside] = apart(requireReply(before))
      const settling = {
        arrived: outcome === 'arrived',
        seen: new Date(seen),
        canSend: reply.connection_id !== null,
        isGone: beside.is_gone,
      }
      const after = settledByPerson(reply, { ...decisionOf(context), ...settling })
      const work = after.status === 'queued' ? [sendingWork(after, context.gate.now)] : []
      const parts = reply.parts.flatMap(({ state }, index) => (state === 'unknown' ? [index] : []))
      return {
        reply: { reply: view({ ...after, ...beside }) },
        effects: { writes: [saveReply(after)], work },
        auditDetail: { ...traceOf(after), outcome, parts, status: after.status },
      }
    },
  ),
})

/** Throws `conflict`. */
const sendingWork = ({ id, connection_id }: ChannelReply, now: Date) =>
  replyWork(
    {
      id,
      connection_id:
        connection_id ??
        fail('conflict', 'cannot send: the channel of the reply is disconnected', {
          reason: 'missing_prerequisite',
        }),
    },
    now,
  )

const onTheWire = (reply: ChannelReply) =>
  isOnTheWire(reply)
    ? [{ reply_id: reply.id, origin: 'manual' as const, since: reply.updated_at }]
    : []

const traceOf = ({ connection_id, job_id }: ChannelReply) => ({ connection_id, job_id })
