/**
 * The kinds of records that are sent. Their transitions are in the domain;
 * actors/work/growth/means.ts sends them.
 */
import type { Engagement } from '#domain/growth/drafting/engagement'
import { engagementAnswer } from '#domain/growth/drafting/engagement-view'
import type { Item } from '#domain/growth/drafting/item'
import { itemAnswer } from '#domain/growth/drafting/item-view'
import { engagement } from '#domain/growth/sending/engagement'
import { post } from '#domain/growth/sending/post'
import type { Sendable, SendableKind, Transitions } from '#domain/growth/sending/sendable'
import type { Query, Sql } from '#store/engine/db'
import type { Part } from '#store/engine/load'
import type { RecordId } from '#store/engine/next-due'
import { engagementPart, lockEngagement, saveEngagement } from '#store/growth/engagements'
import { itemPart, lockItem, saveItem } from '#store/growth/items'

interface SendableRow<R extends Sendable = Sendable> {
  moves: Transitions<R>
  part(id: RecordId): Part<R | undefined>
  /** Throws `not_found`. */
  lock(sql: Sql, id: string): Promise<R>
  save(record: R): Query
  /** The response body of operations on the record. */
  answer(record: R): string
  /** The requested action, as errors name it. */
  verb: string
  /** Operations as the audit names them: the send, and finding that it is on the network twice. */
  audits: { sent: string; sentTwice: string }
  /** Further fields of the audit row. */
  detail(record: R): Record<string, unknown>
}

const posts: SendableRow<Item> = {
  moves: post,
  part: itemPart,
  lock: lockItem,
  save: saveItem,
  answer: itemAnswer,
  verb: 'post',
  audits: { sent: 'growth.items.posted', sentTwice: 'growth.items.posted_twice' },
  detail: () => ({}),
}

const engagements: SendableRow<Engagement> = {
  moves: engagement,
  part: engagementPart,
  lock: lockEngagement,
  save: saveEngagement,
  answer: engagementAnswer,
  verb: 'execute',
  audits: { sent: 'growth.engagements.executed', sentTwice: 'growth.engagements.executed_twice' },
  detail: ({ action }) => ({ action }),
}

export const sendables: Record<SendableKind, SendableRow> = { post: posts, engagement: engagements }
