import type { messages } from '#contract/agent/messages'
import {
  newConversation,
  requireActiveConversation,
  requireMayWrite,
  requirePerson,
} from '#domain/agent/conversation'
import { jobView } from '#domain/agent/job/views'
import { newId } from '#kernel/ids'
import { insertConversation, saveConversation, shownConversation } from '#store/agent/conversations'
import { when } from '#store/engine/load'
import { partyOf } from '#store/engine/principal'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { requireConversation } from './conversations.ts'
import { startTurn, type TurnParts, turnFactsFor } from './job/turns.ts'

export const messageHandlers = (parts: TurnParts): Handlers<typeof messages> => ({
  send: loading(
    ({ conversationId: id = null }, { principal }) => ({
      known: when(id !== null, shownConversation(id ?? '', partyOf(principal))),
      facts: turnFactsFor(id, principal),
    }),
    async ({ conversationId, visibility = 'workspace', ...said }, context, { known, facts }) => {
      const { principal, gate } = context
      const { now } = gate
      if (conversationId === undefined && visibility === 'private')
        requirePerson(partyOf(principal))
      const { personId: person_id } = partyOf(principal)
      const begun =
        conversationId === undefined &&
        newConversation(newId(), { title: null, person_id, visibility, now })
      const before = begun || requireConversation(known)
      requireMayWrite(before, partyOf(principal))
      requireActiveConversation(before)
      const save = begun ? insertConversation : saveConversation
      const { job, effects, auditDetail } = await startTurn(
        parts,
        { before, said, principal, facts, now, save },
        context,
      )
      return {
        reply: { job: jobView(job), approvals: [], answer: null },
        effects,
        auditDetail,
        refId: job.id,
      }
    },
  ),
})
