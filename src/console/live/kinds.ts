import type { HintKind } from '#contract/hints'

/** Which reads a change of a record concerns: by the beginnings of their operations' ids. */

/** What counts or lists records of several kinds. */
const OVERVIEWS = ['growth.inbox', 'growth.counts', 'growth.overview', 'growth.brief']

const READS: Partial<Record<HintKind, readonly string[]>> = {
  item: ['growth.items', 'growth.calendar', ...OVERVIEWS],
  article: ['growth.articles', 'growth.items', 'growth.calendar', ...OVERVIEWS],
  batch: ['growth.batches', 'growth.items', ...OVERVIEWS],
  engagement: ['growth.engagements', ...OVERVIEWS],
  approval: ['agent.approvals', ...OVERVIEWS],
  job: ['agent.jobs', 'agent.approvals', ...OVERVIEWS],
  channel_reply: ['agent.channelReplies', ...OVERVIEWS],
  channel: ['agent.channels'],
  channel_identity: ['agent.channelIdentities'],
  automation: ['growth.automation', ...OVERVIEWS],
  webhook: ['app.webhook'],
  key: ['app.keys'],
}

/** A kind that is not listed concerns everything that is shown. */
export const readsOf = (kind: string): readonly string[] => READS[kind as HintKind] ?? ['']
