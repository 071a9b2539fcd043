/**
 * A job whose next call of a model may not be paid for is held: it waits as a row, goes on once
 * billing is in order, or fails in time.
 */
import { heldText } from '#domain/agent/channel/answer'
import { HELD_MS, nextHeldTry } from '#domain/app/held'
import { heldWork } from '#store/agent/jobs'
import { restartPatience } from '#store/agent/steps'
import { loadNow } from '#store/engine/load'
import { type At, again, giveWay, over } from './at.ts'
import { tell } from './telling.ts'

/** Its conversation goes on with what needs no model. */
export const hold = (at: At, why: string) => {
  const { changes, gate } = at
  const { held_since, status, error } = changes.job
  const since = held_since ?? gate.now
  if (gate.now.getTime() - since.getTime() >= HELD_MS)
    return over(at, { kind: 'end', end: { status: 'failed', error: why } })
  changes.set({ status: 'queued', error: why, held_since: since })
  if (status === 'queued' && error !== why) changes.event('job.status', { status, error: why })
  if (held_since === null) {
    tell(at, heldText(changes.job, heldNotice(why)))
    giveWay(at)
  }
  return again(at, nextHeldTry(since, gate.now))
}

const heldNotice = (why: string): string =>
  `This waits, because the workspace's billing is not in order (${why}). It goes on by itself once billing is in order, and is given up after a week.`

/**
 * Billing is in order again. All other held jobs are due, too, and jobs that wait for this one
 * begin to wait anew.
 */
export const release = async ({ changes, sql, gate }: At): Promise<void> => {
  const { id, held_since, parent_id } = changes.job
  if (held_since === null) return
  const { others } = await loadNow(sql, { others: heldWork(id) })
  changes.set({ error: null, held_since: null })
  changes.also({ requeued: others.map(({ work }) => ({ id: work, runAt: gate.now })) })
  if (parent_id !== null) changes.also({ writes: [restartPatience(id, gate.now)] })
}

/** Whether a job below this one is held, and so cannot end in time. */
export const isHeldBelow = ({ family }: Pick<At, 'family'>): boolean =>
  family.below.some(({ held_since }) => held_since !== null)
