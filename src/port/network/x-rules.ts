/** What X lets self-serve programs do with somebody else's post: its changes of 23 February and 20 April 2026. */
import type { EngageAction, Preflight } from '#domain/growth/drafting/engagement'
import type { OthersPost } from './network.ts'

const byHand = {
  reply: (id: string) => `https://x.com/intent/tweet?in_reply_to=${id}`,
  other: (id: string) => `https://x.com/i/status/${id}`,
}

const refusals: Record<Exclude<EngageAction, 'repost'>, { reason: string; message: string }> = {
  reply: {
    reason: 'x_reply_not_summoned',
    message: 'the network takes replies from programs only where the post mentions or quotes the account; a person may reply by hand',
  },
  quote: {
    reason: 'x_quote_selfserve_removed',
    message: 'the network takes no quotes from programs any more; a person may quote it by hand',
  },
  like: {
    reason: 'x_like_selfserve_removed',
    message: 'the network takes no likes from programs any more; a person may like it by hand',
  },
}

export const xSelfServe = (action: EngageAction, { externalId, addressesUs }: OthersPost): Preflight => {
  if (action === 'repost' || (action === 'reply' && addressesUs)) return { allowed: true }
  const link = action === 'reply' ? byHand.reply(externalId) : byHand.other(externalId)
  return { allowed: false, ...refusals[action], link }
}
