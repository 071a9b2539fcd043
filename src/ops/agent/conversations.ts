import type { conversations } from '#contract/agent/conversations'
import { statusNews, withEvents } from '#decisions/agent/job-events'
import type { ToolBox } from '#decisions/agent/toolbox'
import { newWork } from '#decisions/work'
import { type Conversation, newConversation, requireActive, updateConversation, withMessage } from '#domain/agent/conversation'
import { type Job, newTurn, type OnBehalf } from '#domain/agent/job'
import { BEHIND_MS, MOST_OPEN_JOBS, MOST_OPEN_JOBS_OF_CONVERSATION } from '#domain/agent/limits'
import { chooseModel, type Models, type NO_MODEL } from '#domain/agent/model-choice'
import { conversationView, jobView, messageView } from '#domain/agent/views'
import { fail, found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { nearest } from '#kernel/nearest'
import {
  conversationPart,
  insertConversation,
  listConversations,
  saveConversation,
  type TurnFacts,
  turnFacts,
} from '#store/agent/conversations'
import { eventEffects } from '#store/agent/events'
import { insertJob, openJobsOf } from '#store/agent/jobs'
import { insertMessages, messagesPart } from '#store/agent/messages'
import { merge } from '#store/engine/letter'
import { loadBy } from '#store/engine/load'
import type { Principal } from '#store/engine/principal'
import type { Handlers } from '../call.ts'
import { conversationEvents } from '../job-events.ts'
import { loading } from '../loading.ts'
import { pageOf, pageResult, timedPageOf, timedResult } from '../paging.ts'
import type { Waiters } from '../waiters.ts'

/** How many messages a conversation shows by itself. */
const NEWEST = 50
/** Seconds after which a slot may be free. */
const RETRY_AFTER = 30

export const the = (conversation: Conversation | undefined): Conversation => found(conversation, 'no such conversation')

/** What the handlers need to start a turn. */
export interface TurnParts {
  tools: ToolBox
  models: Models | typeof NO_MODEL
  waiters: Waiters
}

export const conversationHandlers = ({ tools, models, waiters }: TurnParts): Handlers<typeof conversations> => ({
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
    const parts = { conversation: conversationPart(id), messages: messagesPart(id, { limit: NEWEST }), jobs: openJobsOf(id) }
    const { conversation, messages, jobs } = await loadBy(read, parts)
    const newest = messages.slice(0, NEWEST).reverse()
    return { conversation: conversationView(the(conversation)), messages: newest.map(messageView), openJobs: jobs.map(jobView) }
  },

  update: loading(
    ({ id }) => ({ before: conversationPart(id) }),
    ({ id: _, ...changes }, { gate }, { before }) => {
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
    ({ content, model, toolNames }, { gate: { now }, principal }, { before, facts }) => {
      const conversation = the(before)
      requireActive(conversation)
      requireKnown(tools, toolNames)
      requireRoom(facts)
      const choice = { ...chooseModel(model, models), tools: toolNames ? [...new Set(toolNames)] : null }
      return sent(conversation, { content, choice, principal, now, facts })
    },
  ),
})

/** Throws `invalid_input`, naming the first tool that does not exist. */
const requireKnown = ({ tools }: ToolBox, names: readonly string[] = []): void => {
  const at = names.findIndex((name) => !tools.has(name))
  if (at === -1) return
  const near = nearest(names[at]!, [...tools.keys()])
  const message = `is not a tool: ${names[at]}${near ? `; did you mean ${near}?` : ''}`
  fail('invalid_input', `toolNames.${at} ${message}`, { details: [{ path: `toolNames.${at}`, message }] })
}

const requireRoom = ({ all_jobs, our_jobs }: TurnFacts): void => {
  if (our_jobs >= MOST_OPEN_JOBS_OF_CONVERSATION || all_jobs >= MOST_OPEN_JOBS)
    fail('rate_limited', 'agent_jobs', { retryAfter: RETRY_AFTER })
}

/** In whose name a job runs. */
const onBehalfOf = ({ kind, id, member }: Principal): OnBehalf =>
  kind === 'system' ? fail('forbidden', 'the deployment itself has no conversations') : { kind, id, personId: member?.personId ?? null }

interface Turn {
  content: string
  choice: Pick<Job, 'tier' | 'asked_model' | 'model' | 'tools'>
  principal: Principal
  facts: TurnFacts
  now: Date
}

/** The message, the job that answers it, and its work: due now, or once the job before it has ended. */
const sent = (before: Conversation, { content, choice, principal, facts, now }: Turn) => {
  const on_behalf = onBehalfOf(principal)
  const [messageId, jobId] = [newId(), newId()]
  const added = withMessage(before, { id: messageId, role: 'user', content, author: on_behalf, job_id: jobId }, now)
  const taint = facts.has_untrusted ? ['conversation'] : []
  const turn = newTurn(jobId, { ...choice, content, conversation_id: before.id, message_id: messageId, on_behalf, taint, now })
  const { job, events } = withEvents(turn, [statusNews(turn)], now)
  const runAt = facts.is_busy ? new Date(now.getTime() + BEHIND_MS) : now
  const writes = [saveConversation(added.conversation), insertMessages([added.message]), insertJob(job)]
  const work = [newWork('agent', { root: job.id, refId: job.id, origin: job.origin, runAt })]
  const effects = merge({ writes, work }, eventEffects(events))
  return { reply: { message: messageView(added.message), job: jobView(job) }, effects, auditDetail: { job_id: job.id } }
}
