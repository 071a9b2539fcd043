/** What has happened in a job, or in all jobs of a conversation, since a given event. */
import type { conversations } from '#contract/agent/conversations'
import type { jobs } from '#contract/agent/jobs'
import { isOver } from '#domain/agent/job/job'
import { found } from '#kernel/errors'
import { shownConversation } from '#store/agent/conversations'
import { conversationEventsAfter, eventsAfter } from '#store/agent/events'
import { shownJob } from '#store/agent/jobs'
import { loadBy } from '#store/engine/load'
import { partyOf } from '#store/engine/principal'
import type { Handlers } from '../../engine/call.ts'
import type { Poller } from '../../engine/waiters.ts'

const SECOND_MS = 1_000

export const jobEvents =
  (waiters: Poller): Handlers<typeof jobs>['events'] =>
  ({ id, after = 0, wait = 0 }, { read, principal, tenantId }) => {
    const look = async () => {
      const { job, events } = await loadBy(read, {
        job: shownJob(id, partyOf(principal)),
        events: eventsAfter(id, after),
      })
      const nextSeq = events.at(-1)?.seq ?? after
      const shown = events.map(({ seq, at, type, data }) => ({ seq, at, type, data }))
      // One statement read both, so no event of the job is missing.
      const the = found(job, 'no such job')
      return { events: shown, nextSeq, done: isOver(the) && nextSeq >= the.next_event - 1 }
    }
    return waiters.until(look, ({ events, done }) => done || events.length > 0, {
      tenantId,
      caller: principal,
      waitMs: wait * SECOND_MS,
    })
  }

export const conversationEvents =
  (waiters: Poller): Handlers<typeof conversations>['events'] =>
  ({ id, after = 0, wait = 0 }, { read, principal, tenantId }) => {
    const look = async () => {
      const { conversation, events } = await loadBy(read, {
        conversation: shownConversation(id, partyOf(principal)),
        events: conversationEventsAfter(id, after),
      })
      found(conversation, 'no such conversation')
      const shown = events.map(({ conversation_seq, job_id, at, type, data }) => ({
        seq: conversation_seq,
        jobId: job_id,
        at,
        type,
        data,
      }))
      return { events: shown, nextSeq: shown.at(-1)?.seq ?? after }
    }
    return waiters.until(look, ({ events }) => events.length > 0, {
      tenantId,
      caller: principal,
      waitMs: wait * SECOND_MS,
    })
  }
