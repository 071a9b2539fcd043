import { engagements } from '#contract/growth/engagements'
import { admitEngagement } from '#decisions/growth/admission'
import { takeCap } from '#domain/app/plan'
import {
  type EngagedPost,
  type Engagement,
  type EngagementRequest,
  isWritten,
} from '#domain/growth/drafting/engagement'
import type { GrowthChannel } from '#domain/growth/drafting/growth-channel'
import { refuseNaming } from '#domain/growth/way-on'
import { fail } from '#kernel/errors'
import type { Network } from '#port/network/network'
import { othersPost } from '#port/network/others-post'
import { when } from '#store/engine/load'
import { engagementOn } from '#store/growth/engagements'
import { channelPart } from '#store/growth/growth-channels'
import type { CommandContext } from '../../engine/call.ts'
import { loading } from '../../engine/loading.ts'
import { authorOf } from './author.ts'
import { engagementReply, requireNetwork, ruleOn } from './engagement.ts'
import { type PostReading, postIdOf, storedPost } from './reading-post.ts'

const { cap } = engagements.create

const unreadPost = (network: Network, ref: string): EngagedPost => ({
  network: network.name,
  post_id: postIdOf(network, ref),
  post_url: null,
  post_author: null,
  post_text: null,
  addresses_us: false,
})

type Words = Pick<EngagementRequest, 'action' | 'instruction' | 'body'>

/**
 * The post of the engagement. Without an account to read it, the engagement needs a body. Throws
 * `not_found` or `conflict`.
 */
const foundPost = (
  reading: Exclude<PostReading, { kind: 'failed' }>,
  ref: string,
  { action, body }: Words,
): EngagedPost => {
  if (reading.kind === 'read')
    return reading.post
      ? storedPost(reading.network, reading.post)
      : fail('not_found', 'the network has no such post')
  if (isWritten(action) && body === null)
    refuseNaming(
      'missing_prerequisite',
      `drafting needs a connected account to read the post; connect an account, or pass the body of the ${action}`,
      'growth.connections.list',
    )
  return unreadPost(reading.network, ref)
}

interface Known {
  /** The channel whose format rules apply to replies. */
  channel: GrowthChannel | undefined
  /** The open or executed engagement of the same action on the post. */
  other: Pick<Engagement, 'id' | 'status'> | undefined
}

/** Drafts an engagement on a post that has been read. */
export const draftEngagement = (
  context: CommandContext,
  { post, channel, other }: Known & { post: EngagedPost },
  { signalId, ...words }: Words & { signalId: string | null },
) => {
  const network = requireNetwork(context, post)
  const request = { ...post, ...words, signal_id: signalId }
  const preflight = network.preflight(words.action, othersPost(post))
  const requested = { by: authorOf(context) }
  const admission = { gate: context.gate, origin: 'manual', requested } as const
  return admitEngagement(admission, { request, rule: ruleOn(network, channel), preflight, other })
}

/** The network and the id of the post, if both are known. */
const placeOf = (
  reading: PostReading,
  ref: string,
): { network: string; postId: string } | undefined => {
  if (reading.kind === 'failed') return undefined
  const postId =
    reading.kind === 'read'
      ? reading.post?.externalId
      : (reading.network.postIdIn(ref) ?? undefined)
  return postId === undefined ? undefined : { network: reading.network.name, postId }
}

/** Creates the engagement from a caller's words and the post that was read for them. */
export const createFrom = (reading: PostReading, { ref, ...words }: Words & { ref: string }) => {
  const place = placeOf(reading, ref)
  return loading(
    () => ({
      channel: channelPart('replies'),
      other: when(place !== undefined, engagementOn({ ...place!, action: words.action })),
    }),
    (_, context, known) => {
      if (reading.kind === 'failed') {
        // The cap refused the read. Refusing again takes both times of the answer from one clock.
        if (reading.error.detail === cap) takeCap(context.gate, cap)
        throw reading.error
      }
      const { record, effects } = draftEngagement(
        context,
        { post: foundPost(reading, ref, words), ...known },
        { ...words, signalId: null },
      )
      return { reply: engagementReply(record), effects, refId: record.id }
    },
  )
}
