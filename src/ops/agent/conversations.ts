import type { conversations } from '#contract/agent/conversations'
import { deletedConversation } from '#decisions/agent/deleting'
import {
  type Conversation,
  newConversation,
  requireActiveConversation,
  requireMayChange,
  requireMayRemove,
  requireMayShow,
  requireMayWrite,
  requireNobodyLeftOut,
  sightChanged,
  updateConversation,
} from '#domain/agent/conversation'
import type { Job } from '#domain/agent/job/job'
import { conversationView, jobView, messageView } from '#domain/agent/job/views'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { leftOutOf } from '#store/agent/authors'
import { channelOriginPart, openRepliesOf } from '#store/agent/channel-replies'
import {
  insertConversation,
  knownConversation,
  listConversations,
  saveConversation,
  shownConversation,
} from '#store/agent/conversations'
import { openJobsOf, openJobsWithin } from '#store/agent/jobs'
import { messagesPart } from '#store/agent/messages'
import { hasSchedules } from '#store/agent/schedules'
import { callsInFlight } from '#store/agent/steps'
import { loadBy, loadNow, when } from '#store/engine/load'
import { isSignedInOwner, partyOf } from '#store/engine/principal'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult, timedPageOf, timedResult } from '../engine/paging.ts'
import type { Poller } from '../engine/waiters.ts'
import { conversationEvents } from './job/events.ts'
import { startTurn, type TurnParts, turnFactsFor } from './job/turns.ts'

/** How many messages come with a conversation. */
const NEWEST = 50

export const requireConversation = (conversation: Conversation | undefined): Conversation =>
  found(conversation, 'no such conversation')

export const conversationReply = (conversation: Conversation) => ({
  reply: { conversation: conversationView(conversation) },
})

/**
 * Makes streams of the conversation and its jobs check again whether their readers may continue.
 */
export const saveAndReply = (
  before: Conversation,
  conversation: Conversation,
  jobs: readonly Job[],
) => ({
  ...conversationReply(conversation),
  effects: {
    writes: [saveConversation(conversation)],
    news: [
      { kind: 'conversation', id: conversation.id, sightOf: sightChanged(before, conversation) },
      ...jobs.map(({ id }) => ({ kind: 'job', id })),
    ],
  },
  auditDetail: { visibility: conversation.visibility, people: conversation.people },
})

type All = Handlers<typeof conversations>

const list: All['list'] = async ({ status, visibility, ...input }, { read, principal }) => {
  const page = timedPageOf(input)
  const as = {
    ...partyOf(principal),
    knowsAll: visibility === 'private' && isSignedInOwner(principal),
  }
  const asked = listConversations({ ...page, status, visibility, as })
  const { rows, next_cursor } = timedResult(await read(asked), page.limit, ({ last_at }) => last_at)
  return { conversations: rows.map(conversationView), nextCursor: next_cursor }
}

const create: All['create'] = async ({ title = null }, { gate, principal }) => {
  const conversation = newConversation(newId(), {
    title,
    person_id: principal.member?.personId ?? null,
    now: gate.now,
  })
  const effects = { writes: [insertConversation(conversation)] }
  return {
    reply: { conversation: conversationView(conversation) },
    effects,
    refId: conversation.id,
  }
}

const get: All['get'] = async ({ id }, { read, principal }) => {
  const { conversation, messages, jobs } = await loadBy(read, {
    conversation: shownConversation(id, partyOf(principal)),
    messages: messagesPart(id, { limit: NEWEST }),
    jobs: openJobsOf(id),
  })
  const newest = messages.slice(0, NEWEST).reverse()
  return {
    conversation: conversationView(requireConversation(conversation)),
    messages: newest.map(messageView),
    openJobs: jobs.map(jobView),
  }
}

const update: All['update'] = loading(
  ({ id, visibility }, { principal }) => ({
    before: shownConversation(id, partyOf(principal)),
    jobs: openJobsOf(id),
    leftOut: when(visibility === 'private', leftOutOf(id)),
  }),
  ({ id: _, ...changes }, { gate, principal }, { before, jobs, leftOut }) => {
    requireMayChange(requireConversation(before), partyOf(principal))
    requireMayShow(before!, changes, partyOf(principal))
    if (leftOut && before!.visibility === 'workspace') requireNobodyLeftOut(leftOut)
    return saveAndReply(before!, updateConversation(before!, changes, gate.now), jobs)
  },
)

const messages: All['messages'] = async ({ id, ...input }, { read, principal }) => {
  const page = pageOf(input)
  const { conversation, messages } = await loadBy(read, {
    conversation: shownConversation(id, partyOf(principal)),
    messages: messagesPart(id, page),
  })
  requireConversation(conversation)
  const { rows, next_cursor } = pageResult(messages, page.limit)
  return { messages: rows.map(messageView), nextCursor: next_cursor }
}

const remove = (publicUrl: string): All['remove'] =>
  loading(
    ({ id }, { principal }) => ({
      before: knownConversation(id, {
        ...partyOf(principal),
        knowsAll: isSignedInOwner(principal),
      }),
      tree: openJobsWithin(id),
      calls: callsInFlight,
      replies: openRepliesOf(id),
      schedules: hasSchedules(id),
    }),
    async (_, { gate: { now }, lanes, principal, sql }, { before, ...loaded }) => {
      const conversation = requireConversation(before)
      requireMayRemove(conversation, partyOf(principal))
      const asked = loaded.tree.filter(({ kind }) => kind === 'channel')
      const parts = Object.fromEntries(asked.map(({ id }) => [id, channelOriginPart(id)]))
      const origins = asked.length > 0 ? await loadNow(sql, parts) : {}
      const { in_flight, ...result } = deletedConversation(
        conversation,
        { ...loaded, origins },
        { lanes, publicUrl, now },
      )
      return {
        ...result,
        reply: { conversation: conversationView(conversation), in_flight },
        auditDetail: { visibility: conversation.visibility, jobs: loaded.tree.length },
      }
    },
  )

const send = (parts: TurnParts): All['send'] =>
  loading(
    ({ id }, { principal }) => ({
      before: shownConversation(id, partyOf(principal)),
      facts: turnFactsFor(id, principal),
    }),
    async ({ id: _, ...said }, context, { before, facts }) => {
      const { principal, gate } = context
      const conversation = requireConversation(before)
      requireMayWrite(conversation, partyOf(principal))
      requireActiveConversation(conversation)
      const turn = {
        before: conversation,
        said,
        principal,
        facts,
        now: gate.now,
        save: saveConversation,
      }
      const { message, job, ...rest } = await startTurn(parts, turn, context)
      return { reply: { message: messageView(message), job: jobView(job) }, ...rest }
    },
  )

export const conversationHandlers = (
  parts: TurnParts & { publicUrl: string },
  waiters: Poller,
): All => ({
  list,
  create,
  get,
  update,
  remove: remove(parts.publicUrl),
  messages,
  events: conversationEvents(waiters),
  send: send(parts),
})
