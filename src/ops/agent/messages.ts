import type { messages } from '#contract/agent/messages'
import { newConversation, requireActive, requireMayWrite } from '#domain/agent/conversation'
import { jobView } from '#domain/agent/views'
import { newId } from '#kernel/ids'
import { conversationPart, insertConversation, saveConversation, turnFacts } from '#store/agent/conversations'
import { when } from '#store/engine/load'
import { partyOf } from '#store/engine/principal'
import type { Handlers } from '../call.ts'
import { loading } from '../loading.ts'
import { startTurn, type TurnParts } from '../turns.ts'
import { the } from './conversations.ts'

export const messageHandlers = (parts: TurnParts): Handlers<typeof messages> => ({
  send: loading(
    ({ conversationId: id = null }) => ({ known: when(id !== null, conversationPart(id ?? '')), facts: turnFacts(id) }),
    async ({ conversationId, ...said }, context, { known, facts }) => {
      const { principal, gate } = context
      const { now } = gate
      const begun =
        conversationId === undefined && newConversation(newId(), { title: null, person_id: principal.member?.personId ?? null, now })
      const before = begun || the(known)
      requireMayWrite(before, partyOf(principal))
      requireActive(before)
      const save = begun ? insertConversation : saveConversation
      const { job, effects, auditDetail } = await startTurn(parts, { before, said, principal, facts, now, save }, context)
      return { reply: { job: jobView(job), approvals: [], answer: null }, effects, auditDetail, refId: job.id }
    },
  ),
})
