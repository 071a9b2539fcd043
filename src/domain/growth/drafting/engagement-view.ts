/** An engagement as surfaces show it. */
import { engagementRecord } from '#contract/records/growth/engagement'
import { viewOf } from '#contract/records/view'
import { authorshipOf } from './authorship.ts'
import { contentMark } from './content-mark.ts'
import type { EngagedPost, Engagement } from './engagement.ts'

const view = viewOf(engagementRecord)

/** The post of an engagement or a signal. */
export const postView = ({
  network,
  post_id,
  post_url,
  post_author,
  post_text,
  addresses_us,
}: EngagedPost) => ({
  network,
  id: post_id,
  url: post_url,
  author: post_author,
  text: post_text,
  addresses_us,
})

export const engagementView = (engagement: Engagement) => ({
  ...view(engagement),
  ...authorshipOf(engagement),
  post: postView(engagement),
  content_hash: engagement.body === null ? null : contentMark(engagement.body),
})

/** The response body of every operation that returns one engagement, without names: as of items. */
export const engagementAnswer = (engagement: Engagement): string =>
  JSON.stringify({ engagement: engagementView({ ...engagement, names: null }) })
