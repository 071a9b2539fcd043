/** What is kept of a read of the network, for people who wonder what became of a send. Pure. */
import { KEPT_POSTS, KEPT_TEXT } from '#contract/records/growth/attempt'
import { storable } from '#kernel/storable'
import type { Attempt, DoubtRead } from './attempt.ts'
import type { SeenPost } from './reconcile.ts'

type ShownPost = NonNullable<DoubtRead['timeline']>[number]

/** Candidates come first, then posts by how near to the attempt they were made. */
const mostTelling = (
  posts: readonly SeenPost[],
  candidates: readonly SeenPost[],
  { intent_at }: Pick<Attempt, 'intent_at'>,
): SeenPost[] => {
  const ids = new Set(candidates.map(({ externalId }) => externalId))
  const far = ({ externalId, createdAt }: SeenPost): number =>
    ids.has(externalId) ? -1 : Math.abs(+createdAt - +intent_at)
  return posts.toSorted((one, other) => far(one) - far(other)).slice(0, KEPT_POSTS)
}

/** No fewer UTF-16 units than so many code points can take: the text may be of any length. */
const READ_UNITS = 2 * (KEPT_TEXT + 1)

/** The beginning of a text of strangers, cut between code points. */
const cut = (text: string): Pick<ShownPost, 'text' | 'is_cut'> => {
  const points = [...storable(text.slice(0, READ_UNITS))]
  return {
    text: points.slice(0, KEPT_TEXT).join(''),
    is_cut: points.length > KEPT_TEXT || text.length > READ_UNITS,
  }
}

/** A post as people see it. */
export const shownPost = ({
  externalId,
  url,
  createdAt,
  original,
  truncated,
}: SeenPost): ShownPost => {
  const { text, is_cut } = cut(original)
  return { external_id: externalId, url, posted_at: createdAt, text, is_cut: is_cut || truncated }
}

/** The posts of a timeline that are kept, newest first. */
export const shownTimeline = (
  posts: readonly SeenPost[],
  candidates: readonly SeenPost[],
  attempt: Pick<Attempt, 'intent_at'>,
): ShownPost[] =>
  mostTelling(posts, candidates, attempt)
    .toSorted((one, other) => +other.createdAt - +one.createdAt)
    .map(shownPost)
