import type { Draft, ReplyBrief, ReplyDraft } from '#domain/growth/drafting/draft'
import { wordSet } from '../checks/draft.ts'
import { replyStandards } from '../checks/reply.ts'
import { composeDrafts } from './drafts.ts'

/** How many drafts to choose from. */
const CHOICES = 8

/** Longer words carry the subject; short ones are mostly grammar. */
const SHORTEST_TERM = 4

const termsIn = (text: string): Set<string> =>
  new Set([...wordSet(text)].filter((word) => word.length >= SHORTEST_TERM))

/** The draft that shares most words with the post; the shortest on a tie. */
const fittingReply = (drafts: readonly Draft[], { post }: ReplyBrief): ReplyDraft => {
  const subject = termsIn(post?.text ?? '')
  const rated = drafts.map(({ body, rationale }) => ({
    body,
    rationale,
    common: termsIn(body).intersection(subject).size,
  }))
  const [best] = rated.toSorted(
    (one, other) => other.common - one.common || one.body.length - other.body.length,
  )
  const fit =
    best!.common > 0
      ? 'It shares its subject with the post.'
      : 'Nothing in your profile is about the subject of the post.'
  return { body: best!.body, rationale: `${fit} ${best!.rationale}`.slice(0, 600) }
}

/** A post of the person's own. The other post is no material; it only decides which draft fits. */
export const composeReply = (brief: ReplyBrief): ReplyDraft =>
  fittingReply(composeDrafts({ ...replyStandards(brief), count: CHOICES }), brief)
