/** What somebody thought of an answer of the agent. */
import { fail } from '#kernel/errors'
import type { Message } from '../conversation.ts'
import type { GivenPlaybook } from '../knowledge/playbook.ts'

export interface Feedback {
  id: string
  tenant_id: string
  conversation_id: string
  message_id: string
  job_id: string | null
  /** The person; the key, if it belongs to the workspace. */
  user_id: string
  verdict: 'up' | 'down'
  correction: string | null
  message_excerpt: string
  metadata: Record<string, unknown>
  created_at: Date
  updated_at: Date
}

/** In characters. */
const EXCERPT_LENGTH = 200

type Given = Pick<Feedback, 'id' | 'tenant_id' | 'user_id' | 'verdict' | 'correction'> & { now: Date }

/**
 * A second verdict on the same message replaces the first. `playbooks`: those that the answer rests on; null if that is not known any more.
 * Throws `invalid_input` for a message that is not the agent's.
 */
export const giveFeedback = (
  message: Message,
  { before, playbooks }: { before: Feedback | undefined; playbooks: GivenPlaybook[] | null },
  { now, ...given }: Given,
): Feedback => {
  if (message.role !== 'assistant') refuseMessage()
  return {
    ...given,
    ...{ conversation_id: message.conversation_id, message_id: message.id, job_id: message.job_id },
    message_excerpt: [...message.content].slice(0, EXCERPT_LENGTH).join(''),
    metadata: { model: message.model, tools: message.tools_used, playbooks },
    ...{ id: before?.id ?? given.id, created_at: before?.created_at ?? now, updated_at: now },
  }
}

const refuseMessage = (): never => {
  const text = 'must be the id of an answer of the agent'
  return fail('invalid_input', `messageId ${text}`, { details: [{ path: 'messageId', message: text }] })
}
