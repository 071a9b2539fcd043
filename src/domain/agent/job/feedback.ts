/** A person's verdict on an answer of the agent. */
import { feedbackRecord } from '#contract/records/agent/feedback'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { fail } from '#kernel/errors'
import type { Message } from '../conversation.ts'
import type { GivenPlaybook } from '../knowledge/playbook.ts'

export type Feedback = RowOf<typeof feedbackRecord>

/** In characters. */
const EXCERPT_LENGTH = 200

type Given = Pick<Feedback, 'id' | 'user_id' | 'verdict' | 'correction'> & { now: Date }

/**
 * A second verdict on the same message replaces the first. `playbooks`: those that the answer was
 * based on; null if that is no longer known. Throws `invalid_input` if the message is not the
 * agent's.
 */
export const giveFeedback = (
  message: Message,
  { before, playbooks }: { before: Feedback | undefined; playbooks: GivenPlaybook[] | null },
  { now, ...given }: Given,
): Feedback => {
  if (message.role !== 'assistant') refuseMessage()
  return {
    ...given,
    conversation_id: message.conversation_id,
    message_id: message.id,
    job_id: message.job_id,
    message_excerpt: [...message.content].slice(0, EXCERPT_LENGTH).join(''),
    metadata: { model: message.model, tools: message.tools_used, playbooks },
    id: before?.id ?? given.id,
    created_at: before?.created_at ?? now,
    updated_at: now,
  }
}

const refuseMessage = (): never => {
  const text = 'must be the id of an answer of the agent'
  return fail('invalid_input', `messageId ${text}`, {
    details: [{ path: 'messageId', message: text }],
  })
}

const view = viewOf(feedbackRecord)

/** `tenantId`: the workspace. */
export const feedbackView = (feedback: Feedback, tenantId: string) => ({
  ...view(feedback),
  tenantId,
})
