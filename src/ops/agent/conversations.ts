import type { conversations } from '#contract/agent/conversations'
import {
  type Conversation,
  newConversation,
  requireActive,
  requireMayChange,
  requireMayWrite,
  updateConversation,
} from '#domain/agent/conversation'
import { conversationView, jobView, messageView } from '#domain/agent/views'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { conversationPart, insertConversation, listConversations, saveConversation, turnFacts } from '#store/agent/conversations'
import { openJobsOf } from '#store/agent/jobs'
import { messagesPart } from '#store/agent/messages'
import { loadBy } from '#store/engine/load'
import { partyOf } from '#store/engine/principal'
import type { Handlers } from '../call.ts'
import { conversationEvents } from '../job-events.ts'
import { loading } from '../loading.ts'
import { pageOf, pageResult, timedPageOf, timedResult } from '../paging.ts'
import { startTurn, type TurnParts } from '../turns.ts'
import type { Waiters } from '../waiters.ts'

/** How many messages a conversation shows by itself. */
const NEWEST = 50

export const the = (conversation: Conversation | undefined): Conversation => found(conversation, 'no such conversation')

export const conversationHandlers = (parts: TurnParts, waiters: Waiters): Handlers<typeof conversations> => ({
  async list({ status, ...input }, { read }) {
    const page = timedPageOf(input)
    const { rows, next_cursor } = timedResult(await read(listConversations({ ...page, status })), page.limit, ({ last_at }) => last_at)
    return { conversations: rows.map(conversationView), nextCursor: next_cursor }
  },

  async create({ title = null }, { gate, principal }) {
    const conversation = newConversation(newId(), { title, person_id: principal.member?.personId ?? null, now: gate.now })
    const effects = { writes: [insertConversation(conversation)] }
    return { reply: { conversation: conversationView(conversation) }, effects, refId: conversation.id }
  },

  async get({ id }, { read }) {
    const load = { conversation: conversationPart(id), messages: messagesPart(id, { limit: NEWEST }), jobs: openJobsOf(id) }
    const { conversation, messages, jobs } = await loadBy(read, load)
    const newest = messages.slice(0, NEWEST).reverse()
    return { conversation: conversationView(the(conversation)), messages: newest.map(messageView), openJobs: jobs.map(jobView) }
  },

  update: loading(
    ({ id }) => ({ before: conversationPart(id) }),
    ({ id: _, ...changes }, { gate, principal }, { before }) => {
      requireMayChange(the(before), partyOf(principal))
      const conversation = updateConversation(the(before), changes, gate.now)
      return { reply: { conversation: conversationView(conversation) }, effects: { writes: [saveConversation(conversation)] } }
    },
  ),

  async messages({ id, ...input }, { read }) {
    const page = pageOf(input)
    const { conversation, messages } = await loadBy(read, { conversation: conversationPart(id), messages: messagesPart(id, page) })
    the(conversation)
    const { rows, next_cursor } = pageResult(messages, page.limit)
    return { messages: rows.map(messageView), nextCursor: next_cursor }
  },

  events: conversationEvents(waiters),

  send: loading(
    ({ id }) => ({ before: conversationPart(id), facts: turnFacts(id) }),
    async ({ id: _, ...said }, context, { before, facts }) => {
      const { principal, gate } = context
      const conversation = the(before)
      requireMayWrite(conversation, partyOf(principal))
      requireActive(conversation)
      const turn = { before: conversation, said, principal, facts, now: gate.now, save: saveConversation }
      const { message, job, ...rest } = await startTurn(parts, turn, context)
      return { reply: { message: messageView(message), job: jobView(job) }, ...rest }
    },
  ),
})
