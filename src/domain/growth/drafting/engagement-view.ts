/** An engagement as surfaces show it. */
import { contentMark } from './content-mark.ts'
import type { Engagement } from './engagement.ts'

export const engagementView = (engagement: Engagement) => {
  const {
    approved_hash: _,
    written_by: __,
    written_at: ___,
    network,
    post_id,
    post_url,
    post_author,
    post_text,
    addresses_us,
    ...rest
  } = engagement
  const { account_external_id: account, decision, ...shown } = rest
  const post = { network, id: post_id, url: post_url, author: post_author, text: post_text, addresses_us }
  return {
    ...shown,
    ...{ account, post, original_body: engagement.original_body ?? null },
    content_hash: engagement.body === null ? null : contentMark(engagement.body),
    decision: decision && { ...decision, at: new Date(decision.at) },
  }
}

/** The response body of every operation that returns one engagement. */
export const engagementAnswer = (engagement: Engagement): string => JSON.stringify({ engagement: engagementView(engagement) })
