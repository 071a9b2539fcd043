/** The approval of a draft as a person asks for it: edited, and with a time if one is given. */

import { refuseField } from '#kernel/errors'
import { requireTaken } from '../sending/account-fit.ts'
import type { Connection } from '../sending/connection.ts'
import { marksSeen } from './content-mark.ts'
import { channelFor, type LengthLimits, limitOf } from './growth-channel.ts'
import { type DecidedBy, decided, type Item } from './item.ts'
import { requireChosen } from './item-edits.ts'
import { approve } from './item-moves.ts'
import { itemStates } from './item-states.ts'
import { type Times, type Timing, timed } from './item-timing.ts'
import { type Marking, marksFor } from './marks.ts'
import { reviseText } from './revision.ts'

interface Asked extends Partial<Timing> {
  edited_body?: string | undefined
  title?: string | undefined
  /** The hash of the text that the caller has seen, or its first digits. */
  expect_hash?: string | undefined
}

interface Approving extends Times, DecidedBy {
  /** The account to send the item from; undefined if there is none. */
  account: Connection | undefined
  /** What its posts are marked with; undefined if its network marks nothing. */
  marking?: Omit<Marking, 'found'> | undefined
  /** The limits of its network. */
  limits: LengthLimits & { measure(text: string): number }
}

export const approveAsAsked = (
  item: Item,
  { edited_body: editedBody, title, expect_hash, post_at, on_missed, only_if_free }: Asked,
  approving: Approving,
): Item => {
  const { account, channels, limits, marking, by, allowed_by, now } = approving
  itemStates.next(item, 'approve')
  const found = marksSeen(
    item,
    marksFor(item.marks, { body: item.body, account: account?.id }),
    expect_hash,
  )
  requireChosen(account, 'approve')
  requireTaken(item, { account, limits })
  const name = channelFor(item.kind)
  const approved = approve(item, {
    editedBody,
    title,
    accountExternalId: account?.external_id ?? null,
    marking: marking && { ...marking, found },
    measure: limits.measure,
    maxLength: limitOf(name, limits),
    channel: channels.find((one) => one.name === name),
    now,
  })
  const isEdited = approved.body !== item.body || approved.title !== item.title
  const written = isEdited ? reviseText(item, approved, { by, now }) : approved
  const next = decided(written, 'approved', { by, allowed_by, now })
  if (post_at !== undefined) return timed(next, { post_at, on_missed, only_if_free }, approving)
  if (only_if_free) refuseField('only_if_free', 'only applies with post_at')
  if (on_missed !== undefined) refuseField('on_missed', 'only applies with post_at')
  return next
}
