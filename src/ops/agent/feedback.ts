import type { conversationFeedback, feedback } from '#contract/agent/feedback'
import { feedbackView, giveFeedback } from '#domain/agent/job/feedback'
import { found } from '#kernel/errors'
import { isUuid, newId } from '#kernel/ids'
import { shownConversation } from '#store/agent/conversations'
import { feedbackOf, feedbackPart, listFeedback, putFeedback } from '#store/agent/feedback'
import { playbooksGivenFor } from '#store/agent/given-playbooks'
import { messagePart } from '#store/agent/messages'
import { loadBy, when } from '#store/engine/load'
import { type Principal, partyOf } from '#store/engine/principal'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { clampTime } from '../engine/time-input.ts'
import { requireConversation } from './conversations.ts'

/** The person, or the key itself if it belongs to the workspace. */
const userOf = ({ id, member }: Principal): string => member?.personId ?? id

export const conversationFeedbackHandlers: Handlers<typeof conversationFeedback> = {
  async list({ id }, { read, principal, tenantId }) {
    const { conversation, given } = await loadBy(read, {
      conversation: shownConversation(id, partyOf(principal)),
      given: feedbackOf(userOf(principal), id),
    })
    requireConversation(conversation)
    return { feedback: given.map((one) => feedbackView(one, tenantId)) }
  },

  give: loading(
    ({ id, messageId }, { principal }) => {
      // Text that is no uuid is nobody's id.
      const isId = isUuid(messageId.toLowerCase())
      return {
        conversation: shownConversation(id, partyOf(principal)),
        message: when(isId, messagePart(id, messageId)),
        before: when(isId, feedbackPart(userOf(principal), messageId)),
        given: when(isId, playbooksGivenFor(messageId)),
      }
    },
    (
      { verdict, correction = null },
      { gate, principal, tenantId },
      { conversation, message, before, given },
    ) => {
      requireConversation(conversation)
      const answer = found(message, 'no such message in this conversation')
      const says = { id: newId(), user_id: userOf(principal), verdict, correction, now: gate.now }
      const feedback = giveFeedback(answer, { before, playbooks: given?.playbooks ?? null }, says)
      return {
        reply: { feedback: feedbackView(feedback, tenantId) },
        effects: { writes: [putFeedback(feedback)] },
        refId: feedback.id,
      }
    },
  ),
}

const USUAL = 50

export const feedbackHandlers: Handlers<typeof feedback> = {
  async list({ verdict, since, limit = USUAL }, { read, principal, tenantId }) {
    const rows = await read(
      listFeedback({ limit, verdict, since: clampTime(since), as: partyOf(principal) }),
    )
    return { feedback: rows.map((one) => feedbackView(one, tenantId)) }
  },
}
