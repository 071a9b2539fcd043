/** How a message to the agent starts a job. */
import { onBehalfOf } from '#decisions/agent/caller'
import { startEffects } from '#decisions/agent/job-effects'
import { requirePaid, type Takes } from '#decisions/agent/paying'
import type { ToolBox } from '#decisions/agent/toolbox'
import { type Conversation, withMessage } from '#domain/agent/conversation'
import { type CallingJob, type Job, newTurn } from '#domain/agent/job/job'
import { BEHIND_MS, dueNow, hasRoomForJob } from '#domain/agent/job/limits'
import { chooseModel, type Models, type NO_MODEL } from '#domain/agent/job/model-choice'
import { CONVERSATION } from '#domain/agent/job/taint'
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { nearest } from '#kernel/nearest'
import { type TurnFacts, turnFacts } from '#store/agent/conversations'
import { knownMcpTools } from '#store/agent/mcp-tools'
import { insertMessages } from '#store/agent/messages'
import type { Query } from '#store/engine/db'
import { merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Principal } from '#store/engine/principal'
import type { CommandContext } from '../../engine/call.ts'

/** Seconds after which a slot may be free. */
export const RETRY_AFTER = 30

export interface TurnParts {
  tools: ToolBox
  models: Models | typeof NO_MODEL
  desk: Takes
}

interface Named {
  names: readonly string[] | undefined
  /** The field that names the tools. */
  field: 'tools' | 'toolNames'
}

/**
 * Throws `invalid_input`, naming the first tool that neither the agent nor an MCP server of the
 * workspace has.
 */
export const requireKnown = async (
  { tools }: ToolBox,
  { names = [], field }: Named,
  { sql }: Pick<CommandContext, 'sql'>,
): Promise<void> => {
  const others = names.filter((name) => !tools.has(name))
  if (others.length === 0) return
  const { served } = await loadNow(sql, { served: knownMcpTools(others) })
  const at = names.findIndex(
    (name) => !tools.has(name) && !served.some((tool) => tool.name === name),
  )
  if (at === -1) return
  const near = nearest(names[at]!, [...tools.keys()])
  const message = `is not a tool: ${names[at]}${near ? `; did you mean ${near}?` : ''}`
  fail('invalid_input', `${field}.${at} ${message}`, {
    details: [{ path: `${field}.${at}`, message }],
  })
}

/** What must be read for a turn of a conversation; null: of a new one. */
export const turnFactsFor = (conversationId: string | null, principal: Principal) =>
  turnFacts(conversationId, { on_behalf: onBehalfOf(principal), origin: 'manual' })

export const requireJobRoom = (facts: TurnFacts, typed = false): void => {
  if (!hasRoomForJob(facts, { typed }))
    fail('rate_limited', 'agent_jobs', { retryAfter: RETRY_AFTER })
}

/**
 * Throws `conflict`: text written in the app would become part of what a stranger's next job sees
 * and can repeat.
 */
const requireOurs = ({ is_strangers }: TurnFacts): void => {
  if (is_strangers)
    fail(
      'conflict',
      'cannot send: the conversation is with somebody outside the workspace; answer in its channel',
      { reason: 'others_involved' },
    )
}

/**
 * In whose name a record acts later, and where text that it may follow came from. A record that a
 * job makes acts for the one who asked for the job.
 */
export const madeBy = (principal: Principal, job: CallingJob | undefined) => ({
  on_behalf: job?.onBehalf ?? onBehalfOf(principal),
  taint: job?.taint ?? [],
})

/** The tools that were asked for, limited to the job's own; null: all tools of the caller. */
export const allowedTools = (
  asked: readonly string[] | undefined,
  job: CallingJob | undefined,
): string[] | null => {
  const own = job?.tools ?? null
  if (!asked) return own
  return [...new Set(own ? asked.filter((name) => own.includes(name)) : asked)]
}

/** A caller's message. */
interface Said {
  content: string
  model?: string | undefined
  toolNames?: string[] | undefined
}

export interface Turn {
  before: Conversation
  said: Said
  /** For jobs that are not ordinary turns. */
  more?: Partial<Pick<Job, 'kind' | 'most_steps'>>
  principal: Principal
  facts: TurnFacts
  now: Date
  /** Saves the conversation: a new one, or changes to an existing one. */
  save(conversation: Conversation): Query
}

/**
 * The message, the job that answers it, and the job's work. The work is due now, or once the job
 * before it has ended; a typed command is always due now.
 */
export const startTurn = async (
  { tools, models, desk }: TurnParts,
  turn: Turn,
  context: Pick<CommandContext, 'sql' | 'gate'>,
) => {
  const { before, said, more, principal, facts, now, save } = turn
  const { content, model, toolNames } = said
  await requireKnown(tools, { names: toolNames, field: 'toolNames' }, context)
  requireOurs(facts)
  const choice = {
    ...chooseModel(model, models),
    tools: toolNames ? [...new Set(toolNames)] : null,
  }
  const on_behalf = onBehalfOf(principal)
  await requirePaid(desk, context.gate.plan, { model: choice.model, goal: content, on_behalf })
  const typed = await desk.takes(content)
  requireJobRoom(facts, typed)
  const [messageId, jobId] = [newId(), newId()]
  const added = withMessage(
    before,
    { id: messageId, role: 'user', content, author: on_behalf, job_id: jobId },
    now,
  )
  const taint = facts.has_untrusted ? [CONVERSATION] : []
  const asked = {
    ...choice,
    content,
    conversation_id: before.id,
    message_id: messageId,
    on_behalf,
    taint,
    now,
  }
  const job = { ...newTurn(jobId, asked), typed, ...more }
  const runAt = facts.is_busy && !typed ? new Date(now.getTime() + BEHIND_MS) : dueNow(job, now)
  const writes = [save(added.conversation), insertMessages([added.message])]
  const effects = merge({ writes }, startEffects(job, now, runAt))
  return { message: added.message, job, effects, auditDetail: { job_id: job.id } }
}
