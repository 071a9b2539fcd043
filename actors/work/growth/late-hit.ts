/** The watch over an item that was returned: for a day its timeline is read, ever more rarely, for the post that should not be there. */

import type { Claiming } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import type { Item } from '#domain/growth/drafting/item'
import type { Connection } from '#domain/growth/sending/connection'
import type { Attempt, PublishTimes } from '#domain/growth/sending/publish'
import { lateHit, returnedSince, watchNext } from '#domain/growth/sending/returning'
import { type Work, workOf } from '#store/engine/work'
import { returnedAttempt, saveAttempt } from '#store/growth/attempts'
import { saveItem } from '#store/growth/items'
import { finished, requeued } from './decisions.ts'
import { decisionOf } from './send-replies.ts'
import { identify, type Looked } from './timeline.ts'

interface Watched {
  item: Item
  times: PublishTimes
  job: { attempt: Attempt; connection: Connection }
  outcome: Looked
}

/** States in which a late post says something new; a draft, or what a person put aside, is looked for before it is sent again. */
const WATCHED = ['approved', 'publish_failed', 'publishing', 'posted']

export const settleLate = async (letter: Claiming, { item, times, job, outcome }: Watched): Promise<Decision<void>> => {
  const { sql, gate, work } = letter
  const attempt = await returnedAttempt(sql, { sendable: 'post', record_id: item.id }, returnedSince(gate.now, times))
  if (attempt?.id !== job.attempt.id || !WATCHED.includes(item.status)) return finished(work)
  const found =
    outcome.kind === 'read' && item.status !== 'publishing' ? await identify(sql, { ...job, attempt }, outcome.posts) : undefined
  if (!found?.post) return requeuedOrOver(work, watchNext(attempt, gate.now, times))
  const settled = lateHit({ item, attempt, now: gate.now, times }, found.post)
  if (item.status === 'posted') return twice(settled, work)
  const decision = decisionOf(settled, work)
  const scheduled = await workOf(sql, 'publish', item.id)
  if (scheduled) decision.effects!.settled = [...(decision.effects!.settled ?? []), scheduled.id]
  return decision
}

const requeuedOrOver = (work: Work, at: Date | undefined): Decision<void> => (at ? requeued(work, at) : finished(work))

const twice = ({ item, attempt, events }: ReturnType<typeof lateHit>, work: Work): Decision<void> => ({
  reply: undefined,
  effects: {
    ...{ writes: [saveItem(item), saveAttempt(attempt)], events, settled: [work.id] },
    audit: {
      operation: 'growth.items.posted_twice',
      refId: item.id,
      detail: { attempt: attempt.number, external_id: attempt.external_id },
    },
  },
})
