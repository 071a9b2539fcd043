/** An engagement as surfaces show it. */
import { engagementRecord } from '#contract/records/growth/engagement'
import { viewOf } from '#contract/records/view'
import { contentMark } from './content-mark.ts'
import type { Engagement } from './engagement.ts'

const view = viewOf(engagementRecord)

export const engagementView = (engagement: Engagement) => {
  const { network, post_id, post_url, post_author, post_text, addresses_us, body } = engagement
  return {
    ...view(engagement),
    post: { network, id: post_id, url: post_url, author: post_author, text: post_text, addresses_us },
    content_hash: body === null ? null : contentMark(body),
  }
}

/** The response body of every operation that returns one engagement. */
export const engagementAnswer = (engagement: Engagement): string => JSON.stringify({ engagement: engagementView(engagement) })
