/**
 * What people do with an item. Each function returns the next item; where item-states.ts does not
 * allow it, it throws `conflict`. What becomes of the item as it is posted is in sending/post.ts.
 *
 *   drafted ─approve→ approved ─(post_at)→ scheduled ─due→ publishing
 *      └─reject→ rejected
 *   publishing ─→ posted | publish_failed | publish_unconfirmed
 *   approved, scheduled, rejected, publish_failed ─reopen→ drafted
 */
import { fail, refuseField } from '#kernel/errors'
import { unapproved } from '../sending/sendable.ts'
import { editArticle, titleFault } from './article-text.ts'
import { brokenRuleMessage, checkRules, type FormatRules } from './format-rules.ts'
import { contentHash, type Item } from './item.ts'
import { itemStates } from './item-states.ts'
import { approvedMarks, type Marking, marksIn } from './marks.ts'
import type { OnMissed } from './profile.ts'

/** The furthest `post_at` accepted, in days: anything later is a typing error. */
const FURTHEST_DAYS = 730
/** Clocks differ: a `post_at` at most this far in the past means "now". */
const PAST_TOLERANCE_MS = 60_000

interface Approval {
  editedBody?: string | undefined
  /** A new title, for articles. */
  title?: string | undefined
  accountExternalId: string | null
  /** Undefined if the network has none, or no account is connected. */
  marking?: Marking | undefined
  measure(text: string): number
  maxLength: number
  /** The channel whose format rules apply, if there is one. */
  channel?: { name: string; format_rules: FormatRules } | undefined
  now: Date
}

/** The text after approval. An article's title is always the first line of its body. */
export const approvedText = (
  item: Item,
  { editedBody, title }: Pick<Approval, 'editedBody' | 'title'>,
): Pick<Item, 'body' | 'title'> => {
  if (item.kind === 'article') {
    const fault = title === undefined ? undefined : titleFault(title)
    if (fault) refuseField('title', fault)
    return editArticle(
      { body: item.body, title: item.title },
      { body: editedBody, title: title?.trim() },
    )
  }
  if (title !== undefined) refuseField('title', 'only applies to articles')
  return { body: editedBody ?? item.body, title: null }
}

type FormatRule = Pick<Approval, 'channel' | 'measure'>

const brokenRules = (body: string, { channel, measure }: FormatRule): string[] =>
  channel
    ? checkRules(body, channel.format_rules, measure).map((rule) =>
        brokenRuleMessage(rule, channel.name),
      )
    : []

const requireNone = (faults: string[], path: string): void => {
  if (faults.length === 0) return
  const details = faults.map((message) => ({ path, message }))
  fail('invalid_input', `${path} ${faults[0]}`, { details })
}

/** Throws `invalid_input`, with one detail for each format rule that the text breaks. */
export const requireFormatRules = (body: string, path: string, rule: FormatRule): void =>
  requireNone(brokenRules(body, rule), path)

/** All that forbids the approval of a text; none if it can be approved. */
export const textFaults = (
  body: string,
  { maxLength, ...rule }: FormatRule & Pick<Approval, 'maxLength'>,
): string[] => {
  if (body.trim() === '') return ['is empty']
  const length = rule.measure(body)
  const tooLong =
    length > maxLength
      ? [`is ${length} characters long as the network counts; the maximum is ${maxLength}`]
      : []
  return [...tooLong, ...brokenRules(body, rule)]
}

/**
 * Approves a draft, with an edited body or a new title, for the account that is the default now.
 */
export const approve = (item: Item, approval: Approval): Item => {
  const { editedBody, accountExternalId, marking, measure, now } = approval
  const status = itemStates.next(item, 'approve')
  const path = editedBody === undefined ? 'body' : 'edited_body'
  if ((editedBody ?? item.body).trim() === '') refuseField(path, 'is empty')
  const { body, title } = approvedText(item, approval)
  requireNone(textFaults(body, approval), path)
  const marks = marking ? approvedMarks(body, item.body, marking) : null
  const approved_hash = contentHash(body, accountExternalId, marksIn(marks))
  return {
    ...item,
    status,
    body,
    title,
    marks,
    length: measure(body),
    approved_hash,
    account_external_id: accountExternalId,
    last_error: null,
    updated_at: now,
  }
}

/** Rejects a draft, or an item that the network refused. */
export const reject = (item: Item, reason: string | undefined, now: Date): Item => ({
  ...item,
  status: itemStates.next(item, 'reject'),
  reject_reason: reason ?? null,
  updated_at: now,
})

/** The fields of an item without a post time. */
const unscheduled = { post_at: null, on_missed: null } as const

/**
 * Turns it back into a draft, which keeps its time as a proposal. One that is about to be sent must
 * have been taken back. The network's refusal stays visible until the next approval.
 */
export const reopen = (item: Item, now: Date): Item => ({
  ...item,
  ...unapproved,
  ...unscheduled,
  status: itemStates.next(item, 'reopen'),
  review: false,
  // They are looked up again, for the account that is the default then.
  marks: null,
  reject_reason: null,
  proposed_at: item.post_at ?? item.proposed_at,
  updated_at: now,
})

/**
 * Deletes it: an approved one will be a draft if it is restored. Only what was certainly never on
 * the network can be deleted.
 */
export const removed = (item: Item, { wasSent, now }: { wasSent: boolean; now: Date }): Item => {
  itemStates.next(item, 'delete')
  if (wasSent || item.restored_as_of)
    fail(
      'conflict',
      'cannot delete: an earlier attempt to send the item may be on the network; reject it instead',
      { reason: 'in_doubt' },
    )
  return item.status === 'approved' ? reopen(item, now) : { ...item, updated_at: now }
}

interface Schedule {
  postAt: Date
  onMissed: OnMissed | null
  now: Date
}

/** Sets or moves the post time of an approved item. */
export const schedule = (item: Item, { postAt, onMissed, now }: Schedule): Item => {
  const status = itemStates.next(item, 'schedule')
  const ahead = postAt.getTime() - now.getTime()
  if (ahead < -PAST_TOLERANCE_MS)
    refuseField('post_at', `is in the past: it is now ${now.toISOString()}`)
  if (ahead > FURTHEST_DAYS * 86_400_000)
    refuseField('post_at', `is more than ${FURTHEST_DAYS} days ahead`)
  return {
    ...item,
    status,
    post_at: postAt,
    on_missed: onMissed,
    last_error: null,
    updated_at: now,
  }
}

/** Takes an item off the schedule. It stays approved. */
export const unschedule = (item: Item, now: Date): Item => ({
  ...item,
  ...unscheduled,
  status: itemStates.next(item, 'unschedule'),
  updated_at: now,
})

/**
 * Marks an item as posted that a person published by hand or found on the network. Settles an
 * unconfirmed item too. `url` is kept as given.
 */
export const markPosted = (item: Item, url: string | undefined, now: Date): Item => {
  itemStates.next(item, 'mark posted')
  return posted(item, { externalId: null, url: url ?? null, now })
}

export const posted = (
  item: Item,
  { externalId, url, now }: { externalId: string | null; url: string | null; now: Date },
): Item => ({
  ...item,
  status: 'posted',
  review: false,
  ...unscheduled,
  external_id: externalId,
  url,
  posted_at: now,
  last_error: null,
  restored_as_of: null,
  updated_at: now,
})

/** The event `growth.item.posted`, emitted whenever an item becomes posted. */
export const postedEvent = (item: Item) => ({
  type: 'growth.item.posted',
  data: {
    item_id: item.id,
    batch_id: item.batch_id,
    external_id: item.external_id,
    url: item.url,
    posted_at: item.posted_at,
  },
})

/** Posts now, scheduled or not. An item that may be on the network already is never sent again. */
export const requestPost = (item: Item, now: Date): Item => ({
  ...item,
  ...unscheduled,
  status: itemStates.next(item, 'post'),
  updated_at: now,
})

/**
 * Posts an unconfirmed item again. Only a signed-in person can ask for it: a program would do so
 * without checking the network.
 */
export const requestAgain = (
  item: Item,
  { by, now }: { by: 'key' | 'session' | 'channel' | 'system'; now: Date },
): Item => {
  const status = itemStates.next(item, 'post again')
  if (by !== 'session')
    itemStates.refuse(item, 'post again', {
      words: 'only a signed-in person can confirm, not an API key',
      isInDoubt: true,
    })
  return { ...item, status, updated_at: now }
}
