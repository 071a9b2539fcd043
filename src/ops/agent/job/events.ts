/** What has happened in a job, or in all jobs of a conversation, since a given event. */
import type { conversations } from '#contract/agent/conversations'
import type { jobs } from '#contract/agent/jobs'
import { isOver } from '#domain/agent/job/job'
import { found } from '#kernel/errors'
import { shownConversation } from '#store/agent/conversations'
import {
  conversationEventsAfter,
  eventsAfter,
  isInConversation,
  isInJob,
  MOST_EVENTS,
} from '#store/agent/events'
import { shownJob } from '#store/agent/jobs'
import { loadBy } from '#store/engine/load'
import { partyOf } from '#store/engine/principal'
import type { Handlers } from '../../engine/call.ts'
import type { Poller } from '../../engine/waiters.ts'

const SECOND_MS = 1_000

/** Where the next read goes on. Who named an event that there is not begins again. */
const endOf = (
  last: number | undefined,
  { after, isThere }: { after: number; isThere: boolean },
) => ({
  nextSeq: last ?? (isThere ? after : 0),
  resync: !isThere,
})

export const jobEvents =
  (waiters: Poller): Handlers<typeof jobs>['events'] =>
  ({ id, after = 0, wait = 0 }, { read, principal, tenantId }) => {
    const look = async () => {
      const place = { id, seq: after }
      const { job, events, isThere } = await loadBy(read, {
        job: shownJob(id, partyOf(principal)),
        events: eventsAfter(place),
        isThere: isInJob(place),
      })
      const shown = events.map(({ seq, at, type, data }) => ({ seq, at, type, data }))
      // One statement read both, so no event of the job is missing.
      const done = isOver(found(job, 'no such job')) && events.length < MOST_EVENTS
      return { events: shown, done, ...endOf(events.at(-1)?.seq, { after, isThere }) }
    }
    return waiters.until(look, ({ events, done, resync }) => done || resync || events.length > 0, {
      tenantId,
      caller: principal,
      waitMs: wait * SECOND_MS,
    })
  }

export const conversationEvents =
  (waiters: Poller): Handlers<typeof conversations>['events'] =>
  ({ id, after = 0, wait = 0 }, { read, principal, tenantId }) => {
    const look = async () => {
      const place = { id, seq: after }
      const { conversation, events, isThere } = await loadBy(read, {
        conversation: shownConversation(id, partyOf(principal)),
        events: conversationEventsAfter(place),
        isThere: isInConversation(place),
      })
      found(conversation, 'no such conversation')
      const shown = events.map(({ conversation_seq, job_id, at, type, data }) => ({
        seq: conversation_seq,
        jobId: job_id,
        at,
        type,
        data,
      }))
      return { events: shown, ...endOf(shown.at(-1)?.seq, { after, isThere }) }
    }
    return waiters.until(look, ({ events, resync }) => resync || events.length > 0, {
      tenantId,
      caller: principal,
      waitMs: wait * SECOND_MS,
    })
  }
