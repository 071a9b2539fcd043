/**
 * Records that may have gone out elsewhere since a backup or copy, and what a person who looks for
 * them is shown. Pure.
 */
import type { Static } from '@sinclair/typebox'
import { type LookSchema, MOST_SHOWN } from '#contract/records/growth/look'
import { shownPost } from './doubt-read.ts'
import type { SeenPost } from './reconcile.ts'

export type ElsewhereLook = Static<typeof LookSchema>

/** How much the clocks of a backup and of a network may differ. */
const BACKUP_SKEW_MS = 60_000

/** When the other deployment can have begun to send it. */
export const elsewhereSince = (asOf: Date): Date => new Date(asOf.getTime() - BACKUP_SKEW_MS)

interface Looking extends Pick<ElsewhereLook, 'complete'> {
  posts: readonly SeenPost[]
  since: Date
  now: Date
  /** What the posts show of the record. */
  identified: { post?: object | undefined; mayBeThere: boolean; candidates: readonly SeenPost[] }
}

/** The candidates and the newest others, newest first. */
const mostWanted = (
  posts: readonly SeenPost[],
  candidates: ReadonlySet<SeenPost>,
): readonly SeenPost[] => {
  const newest = posts.toSorted((one, other) => +other.createdAt - +one.createdAt)
  const [own, others] = [
    newest.filter((one) => candidates.has(one)),
    newest.filter((one) => !candidates.has(one)),
  ]
  const wanted = new Set([...own, ...others].slice(0, MOST_SHOWN))
  return newest.filter((one) => wanted.has(one))
}

export const lookOf = ({ posts, since, now, complete, identified }: Looking): ElsewhereLook => {
  const { post, mayBeThere } = identified
  const candidates = new Set(identified.candidates)
  return {
    read_at: now,
    since,
    complete,
    saw: post ? 'it' : mayBeThere ? 'unclear' : 'nothing',
    posts: mostWanted(posts, candidates).map((one) => ({
      ...shownPost(one),
      is_candidate: candidates.has(one),
    })),
  }
}
