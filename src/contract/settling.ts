/** What settles by itself after an operation has answered, and which operation shows that. */
import type { NamedOp } from './op.ts'

/** The full id of the operation that `settles` names. */
export const settlingId = ({ id, settles }: Pick<NamedOp, 'id' | 'settles'>): string | undefined =>
  settles === undefined || settles.includes('.')
    ? settles
    : `${id.slice(0, id.lastIndexOf('.'))}.${settles}`

/** Statuses of generations and of the agent's jobs that change by themselves. */
const unsettled: readonly unknown[] = [
  'queued',
  'processing',
  'generating',
  'running',
  'waiting_child',
]

/**
 * Whether there is nothing to wait for: a generation is over, or a job of the agent is over or
 * waits for a person. An engagement counts as settled once it is drafted, although it goes on from
 * there.
 */
export const isSettled = (status: unknown): boolean => !unsettled.includes(status)
