import { engageActions } from '#contract/records/growth/engagement'
import type { EngageAction, EngagedPost } from '#domain/growth/drafting/engagement'
import type { OthersPost } from './network.ts'
import type { Networks } from './registry.ts'

/** The post of an engagement or a signal, as far as the network's rules need it. */
export const othersPost = (engaged: EngagedPost): OthersPost => ({
  externalId: engaged.post_id,
  author: { externalId: '', handle: engaged.post_author ?? '' },
  text: engaged.post_text ?? '',
  createdAt: new Date(0),
  url: engaged.post_url,
  metrics: { impressions: null, likes: 0, replies: 0, reposts: 0, quotes: 0, clicks: null },
  addressesUs: engaged.addresses_us,
})

/**
 * The first action, replies first, that the network permits a program on the post; null if none, or
 * without a post.
 */
export const firstAllowed = (networks: Networks, post: EngagedPost | null): EngageAction | null => {
  const network = post && networks.named(post.network)
  return (
    (network &&
      engageActions.find((action) => network.preflight(action, othersPost(post)).allowed)) ??
    null
  )
}
