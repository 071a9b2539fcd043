/**
 * What a person's decision leaves behind of a record that may have gone out elsewhere: a try of
 * which nobody here knows the end. Before any try of ours, the network is read for its post.
 */
import type { Engagement } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import { engagement } from '#domain/growth/sending/engagement'
import { post } from '#domain/growth/sending/post'
import type { Sendable, Transitions } from '#domain/growth/sending/sendable'
import { newId } from '#kernel/ids'
import type { Query } from '#store/engine/db'
import { insertTryElsewhere } from '#store/growth/restored'
import { hashOfEngagement, hashOfPost } from './sent-hash.ts'

const triedElsewhere =
  <R extends Sendable>(moves: Transitions<R>, hashOf: (record: R) => string) =>
  (before: R, next: R): Query[] =>
    !before.restored_as_of || next.restored_as_of || moves.isSent(next) || moves.isUnconfirmed(next)
      ? []
      : [
          insertTryElsewhere({
            id: newId(),
            sendable: moves.kind,
            record_id: before.id,
            account_external_id: before.account_external_id,
            body_sha: hashOf(before),
            sent_text: moves.textOf(before),
            asOf: before.restored_as_of,
            now: next.updated_at,
          }),
        ]

/** `before`: with the text that may have gone out. */
export const postedElsewhere = triedElsewhere<Item>(post, hashOfPost)
export const engagedElsewhere = triedElsewhere<Engagement>(engagement, hashOfEngagement)
