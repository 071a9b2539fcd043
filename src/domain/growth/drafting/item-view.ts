/** An item as surfaces show it. */
import { contentMark } from './content-mark.ts'
import type { Item, ItemDoubt } from './item.ts'

const doubtView = (doubt: ItemDoubt | null) =>
  doubt && { ...doubt, next_read_at: doubt.next_read_at === null ? null : new Date(doubt.next_read_at) }

/** Field by field: copying all but some of an item costs the engine several times as much. */
export const itemView = (item: Item) => ({
  id: item.id,
  batch_id: item.batch_id,
  resurfaced_from: item.resurfaced_from,
  experiment_id: item.experiment_id,
  arm: item.arm,
  kind: item.kind,
  title: item.title,
  status: item.status,
  review: item.review,
  body: item.body,
  format: item.format,
  hook: item.hook,
  rationale: item.rationale,
  stories: item.stories,
  learnings: item.learnings,
  length: item.length,
  post_at: item.post_at,
  on_missed: item.on_missed,
  reject_reason: item.reject_reason,
  external_id: item.external_id,
  url: item.url,
  posted_at: item.posted_at,
  last_error: item.last_error,
  created_at: item.created_at,
  updated_at: item.updated_at,
  account: item.account_external_id,
  posting_account: item.posting_account ?? null,
  redraft: item.status === 'drafted' && item.redraft?.revision === item.revision ? item.redraft.status : null,
  tags: item.tags,
  note: item.note,
  proposed_at: item.proposed_at,
  revision: item.revision,
  original_body: item.original_body ?? null,
  content_hash: contentMark(item.body),
  warnings: item.warnings ?? [],
  decision: item.decision && { ...item.decision, at: new Date(item.decision.at) },
  metrics: item.metrics ? { ...item.metrics, at: new Date(item.metrics.at) } : null,
  doubt: item.status === 'publish_unconfirmed' ? doubtView(item.doubt ?? null) : null,
})

/** The response body of every operation that returns one item. */
export const itemAnswer = (item: Item): string => JSON.stringify({ item: itemView(item) })
