import type { Loaded } from '#store/engine/load'
import type { TryRow, wayParts } from '#store/growth/ways'

const outcomeOf = {
  open: 'sending',
  doubt: 'unknown',
  review: 'review',
  posted: 'posted',
  failed: 'failed',
  unsent: 'unsent',
  superseded: 'superseded',
  returned: 'returned',
} as const

const withTime = <Post extends { posted_at: Date | string }>(post: Post) => ({
  ...post,
  posted_at: new Date(post.posted_at),
})

const tryView = ({ state, ...row }: TryRow) => ({
  ...row,
  outcome: outcomeOf[state],
  reads: row.reads.map((read) => ({
    ...read,
    at: new Date(read.at),
    candidates: read.candidates.map(withTime),
    timeline: read.timeline?.map(withTime) ?? null,
  })),
})

/** The way of a record, as surfaces show it. */
export const wayView = ({
  versions,
  decisions,
  attempts,
}: Loaded<ReturnType<typeof wayParts>>) => ({
  versions,
  decisions,
  attempts: attempts.map(tryView),
})
