/**
 * What X has permitted self-serve programs to do with other people's posts since its changes of 23
 * February and 20 April 2026.
 */
import type { EngageAction, Preflight } from '#domain/growth/drafting/engagement'
import type { OthersPost } from './network.ts'

const byHand = {
  reply: (id: string) => `https://x.com/intent/tweet?in_reply_to=${id}`,
  other: (id: string) => `https://x.com/i/status/${id}`,
}

const refusals: Record<Exclude<EngageAction, 'repost'>, { reason: string; message: string }> = {
  reply: {
    reason: 'x_reply_not_summoned',
    message:
      'the network only accepts automated replies to posts that mention or quote the account; a person can reply by hand',
  },
  quote: {
    reason: 'x_quote_selfserve_removed',
    message: 'the network no longer accepts automated quotes; a person can quote it by hand',
  },
  like: {
    reason: 'x_like_selfserve_removed',
    message: 'the network no longer accepts automated likes; a person can like it by hand',
  },
}

export const xSelfServe = (
  action: EngageAction,
  { externalId, addressesUs }: OthersPost,
): Preflight => {
  if (action === 'repost' || (action === 'reply' && addressesUs)) return { allowed: true }
  const link = action === 'reply' ? byHand.reply(externalId) : byHand.other(externalId)
  return { allowed: false, ...refusals[action], link }
}
