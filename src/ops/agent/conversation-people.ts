import type { conversationPeople } from '#contract/agent/conversation-people'
import { requireStarter, withoutPerson, withPerson } from '#domain/agent/conversation'
import { found } from '#kernel/errors'
import { shownConversation } from '#store/agent/conversations'
import { openJobsOf } from '#store/agent/jobs'
import { memberPart } from '#store/app/members'
import { partyOf } from '#store/engine/principal'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { conversationReply, requireConversation, saveAndReply } from './conversations.ts'

export const conversationPeopleHandlers: Handlers<typeof conversationPeople> = {
  add: loading(
    ({ id, personId }, { principal }) => ({
      before: shownConversation(id, partyOf(principal)),
      member: memberPart(personId),
      jobs: openJobsOf(id),
    }),
    ({ personId }, { gate, principal }, { before, member, jobs }) => {
      requireStarter(requireConversation(before), partyOf(principal))
      found(member, 'no such member')
      const conversation = withPerson(before!, personId, gate.now)
      return conversation === before
        ? { ...conversationReply(conversation), unchanged: true }
        : saveAndReply(before!, conversation, jobs)
    },
  ),

  remove: loading(
    ({ id }, { principal }) => ({
      before: shownConversation(id, partyOf(principal)),
      jobs: openJobsOf(id),
    }),
    ({ personId }, { gate, principal }, { before, jobs }) => {
      if (
        requireConversation(before).visibility === 'workspace' ||
        personId !== principal.member?.personId
      )
        requireStarter(before!, partyOf(principal))
      const conversation = withoutPerson(before!, personId, gate.now)
      return conversation === before
        ? { ...conversationReply(conversation), unchanged: true }
        : saveAndReply(before!, conversation, jobs)
    },
  ),
}
