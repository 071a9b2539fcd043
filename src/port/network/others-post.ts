import type { EngagedPost } from '#domain/engagement'
import type { OthersPost } from './network.ts'

/** The post of an engagement or a signal, as far as the network's rules ask for it. */
export const othersPost = (engaged: EngagedPost): OthersPost => ({
  externalId: engaged.post_id,
  author: { externalId: '', handle: engaged.post_author ?? '' },
  text: engaged.post_text ?? '',
  createdAt: new Date(0),
  url: engaged.post_url,
  metrics: { impressions: 0, likes: 0, replies: 0, reposts: 0, quotes: 0, clicks: 0 },
  addressesUs: engaged.addresses_us,
})
