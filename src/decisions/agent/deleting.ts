/**
 * What deleting a conversation entails: its jobs are cancelled, and its replies to channels are not
 * sent any more.
 */
import type { ChannelOrigin } from '#domain/agent/channel/answer'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { deletedWith, isOnTheWire, recallReply } from '#domain/agent/channel/reply-decisions'
import { type Conversation, newConversation } from '#domain/agent/conversation'
import { newId } from '#kernel/ids'
import { type openRepliesOf, saveReply } from '#store/agent/channel-replies'
import { deleteConversation, insertConversation } from '#store/agent/conversations'
import type { OpenJob } from '#store/agent/jobs'
import { moveSchedules } from '#store/agent/schedules'
import type { CallInFlight } from '#store/agent/steps'
import { type Effects, merge } from '#store/engine/letter'
import type { Loaded } from '#store/engine/load'
import type { LiveLanes } from '../deciding.ts'
import { stopJobs } from './cancelling.ts'
import { cancelledJob } from './job-effects.ts'

type OpenReply = Loaded<{ replies: ReturnType<typeof openRepliesOf> }>['replies'][number]

interface Belongings {
  /** Its open jobs and their open descendants. */
  tree: readonly OpenJob[]
  calls: readonly CallInFlight[]
  replies: readonly OpenReply[]
  schedules: { any: boolean }
  /** By id of the job: where somebody in a channel waits for its answer. */
  origins: Readonly<Record<string, ChannelOrigin | undefined>>
}

interface Deleting {
  lanes: LiveLanes
  publicUrl: string
  now: Date
}

export const deletedConversation = (
  conversation: Conversation,
  parts: Belongings,
  { lanes, publicUrl, now }: Deleting,
) => {
  const work = stopJobs(parts.tree, parts.calls, lanes)
  const sending = stoppedReplies(parts.replies, lanes, now)
  // Whoever still waits in a channel is told in words that reveal nothing of the conversation.
  const cancelled = parts.tree.map((one) => {
    const origin = parts.origins[one.id]
    const channel = origin && { origin: { ...origin, conversation_id: null }, publicUrl }
    return cancelledJob(one, now, { channel })
  })
  const effects = merge(
    {
      settled: work.settled,
      writes: [deleteConversation(conversation.id, now)],
      news: [
        { kind: 'conversation', id: conversation.id },
        ...parts.tree.map(({ id }) => ({ kind: 'job', id })),
      ],
    },
    ...cancelled.map((one) => one.effects),
    sending.effects,
    parts.schedules.any ? { writes: movedSchedules(conversation, now) } : {},
  )
  const answers = cancelled.map(({ job }) => ({ refId: job.id, with: 'late' as const }))
  return { effects, answers, in_flight: [...work.in_flight, ...sending.in_flight] }
}

const stoppedReplies = (replies: readonly OpenReply[], lanes: LiveLanes, now: Date) => {
  const works = new Set(replies.flatMap(({ work }) => work ?? []))
  const taken = new Set(lanes.recall(({ id }) => works.has(id)).map(({ id }) => id))
  const running = new Set(lanes.ids().filter((id) => !taken.has(id)))
  const after = replies.map(({ work, ...reply }): { work: string | null; reply: ChannelReply } => ({
    work,
    reply: deletedWith(work && taken.has(work) ? recallReply(reply) : reply, now),
  }))
  const left = after.filter(({ reply }) => isOnTheWire(reply))
  return {
    effects: {
      writes: after.map(({ reply }) => saveReply(reply)),
      settled: after.flatMap(({ work, reply }) =>
        work && !running.has(work) && !isOnTheWire(reply) ? [work] : [],
      ),
    } satisfies Effects,
    in_flight: left.map(({ reply }) => ({
      reply_id: reply.id,
      origin: 'manual' as const,
      since: reply.updated_at,
    })),
  }
}

/**
 * Schedules belong to the workspace and continue: in a conversation that their next run begins, or
 * in one that is as private as before.
 */
const movedSchedules = (before: Conversation, now: Date) => {
  if (before.visibility === 'workspace') return [moveSchedules(before.id, null)]
  const { person_id, visibility, people, origin } = before
  const next = {
    ...newConversation(newId(), { title: null, person_id, visibility, origin, now }),
    people,
  }
  return [insertConversation(next), moveSchedules(before.id, next.id)]
}
