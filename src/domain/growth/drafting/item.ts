/**
 * A content item and what people may do with it. Every function is one row of the state table: it returns the next item, or
 * throws `conflict` naming the state. What the publishing machine does with an item is in publish.ts.
 *
 *   drafted ─approve→ approved ─(post_at)→ scheduled ─due→ publishing ─→ posted | publish_failed | publish_unconfirmed
 *      └─reject→ rejected
 */
import { createHash } from 'node:crypto'
import { fail } from '#kernel/errors'
import type { Metrics } from '../metrics.ts'
import { edited, titleFault } from './article-text.ts'
import type { Draft } from './draft.ts'
import { brokenRuleMessage, checkRules, type FormatRules } from './format-rules.ts'
import type { OnMissed } from './profile.ts'

export type ItemStatus = 'drafted' | 'approved' | 'publishing' | 'posted' | 'rejected' | 'publish_failed' | 'publish_unconfirmed'

export interface Item {
  id: string
  batch_id: string | null
  /** With the arm that it was drafted for. */
  experiment_id: string | null
  arm: string | null
  /** The posted item whose text this one takes up again. */
  resurfaced_from: string | null
  kind: 'post' | 'article'
  /** Of an article: the first line of its body; null where a person has taken it away, and of posts. */
  title: string | null
  status: ItemStatus
  /** In doubt, and the machine has given up: a person must look. */
  review: boolean
  body: string
  format: string
  hook: string
  rationale: string
  stories: string[]
  learnings: string[]
  /** Length of the body in the network's own measure. */
  length: number
  /** Set while approved: scheduled. */
  post_at: Date | null
  on_missed: OnMissed | null
  /** SHA-256 of what was approved; a send whose content differs is refused. */
  approved_hash: string | null
  /** The network's own id of the account that the approval is bound to; null until there is one. */
  account_external_id: string | null
  reject_reason: string | null
  external_id: string | null
  url: string | null
  posted_at: Date | null
  last_error: string | null
  /** What its network counts of it, as read last; absent or null where nothing has been read. Kept apart from the item. */
  metrics?: ItemMetrics | null
  /** Of what is in doubt, as it was read; kept with the attempt. */
  doubt?: ItemDoubt | null
  created_at: Date
  updated_at: Date
}

/** Why nobody knows what became of a send. `server_error`: the network answered, with an error of its own (5xx). */
export type DoubtCause = 'server_error' | 'no_answer' | 'unclear_answer' | 'process_stopped'

/** Why nobody knows whether it was posted, who will find out, and when the timeline is read next; null: not any more, or not while paused. */
export interface ItemDoubt {
  cause: DoubtCause
  resolves: 'by_itself' | 'by_person'
  next_read_at: Date | string | null
}

interface ItemMetrics extends Metrics {
  at: Date | string
}

/** The post_at furthest away that is accepted: what lies further is a typing error. */
const FURTHEST_DAYS = 730
/** Clocks differ: a post_at this far in the past still means "now". */
const PAST_TOLERANCE_MS = 60_000

/** What an approval is bound to: the bytes that go out and the account they go out from. */
export const contentHash = (body: string, accountExternalId: string | null): string =>
  createHash('sha256')
    .update(JSON.stringify({ body, attachments: [], account: accountExternalId }))
    .digest('hex')

/** The item's state as a person would name it. */
export const stateOf = (item: Item): string => {
  if (item.status === 'approved' && item.post_at) return 'scheduled'
  if (item.status === 'publish_unconfirmed' && item.review) return 'publish_unconfirmed (in review)'
  return item.status
}

const illegal = (item: Item, action: string): never => fail('conflict', `cannot ${action}: the item is ${stateOf(item)}`)

const invalid = (path: string, message: string): never => fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

/** A draft as an item that waits for approval. */
export const newDraftItem = (draft: Draft, { id, length, now }: { id: string; length: number; now: Date }): Item => ({
  id,
  batch_id: null,
  experiment_id: null,
  arm: null,
  resurfaced_from: null,
  kind: 'post',
  title: null,
  status: 'drafted',
  review: false,
  body: draft.body,
  format: draft.format,
  hook: draft.hook,
  rationale: draft.rationale,
  stories: draft.stories,
  learnings: draft.learnings,
  length,
  post_at: null,
  on_missed: null,
  approved_hash: null,
  account_external_id: null,
  reject_reason: null,
  external_id: null,
  url: null,
  posted_at: null,
  last_error: null,
  created_at: now,
  updated_at: now,
})

interface Approval {
  editedBody?: string | undefined
  /** A new title, for articles. */
  title?: string | undefined
  accountExternalId: string | null
  measure(text: string): number
  maxLength: number
  /** Whose rules the text keeps to, if the workspace has such a channel. */
  channel?: { name: string; format_rules: FormatRules } | undefined
  now: Date
}

/** What an approval changes of the words: an article's title is the first line of what goes out. */
const approvedText = (item: Item, { editedBody, title }: Approval): Pick<Item, 'body' | 'title'> => {
  if (item.kind === 'article') {
    const fault = title === undefined ? undefined : titleFault(title)
    if (fault) invalid('title', fault)
    return edited({ body: item.body, title: item.title }, { body: editedBody, title: title?.trim() })
  }
  if (title !== undefined) invalid('title', 'only applies to articles')
  return { body: editedBody ?? item.body, title: null }
}

/** `invalid_input` with every rule of the channel that the text breaks. */
export const requireForm = (body: string, path: string, { channel, measure }: Pick<Approval, 'channel' | 'measure'>): void => {
  if (!channel) return
  const broken = checkRules(body, channel.format_rules, measure).map((rule) => brokenRuleMessage(rule, channel.name))
  if (broken.length > 0) fail('invalid_input', `${path} ${broken[0]}`, { details: broken.map((message) => ({ path, message })) })
}

/** Approves a draft, with the edited body or the new title if one is given, for the account that is the default now. */
export const approve = (item: Item, approval: Approval): Item => {
  const { editedBody, accountExternalId, measure, maxLength, now } = approval
  if (item.status !== 'drafted') illegal(item, 'approve')
  const path = editedBody === undefined ? 'body' : 'edited_body'
  if ((editedBody ?? item.body).trim() === '') invalid(path, 'is empty')
  const { body, title } = approvedText(item, approval)
  const length = measure(body)
  if (length > maxLength) invalid(path, `is ${length} characters long as the network counts; the maximum is ${maxLength}`)
  requireForm(body, path, approval)
  const approved_hash = contentHash(body, accountExternalId)
  return {
    ...item,
    status: 'approved',
    body,
    title,
    length,
    approved_hash,
    account_external_id: accountExternalId,
    last_error: null,
    updated_at: now,
  }
}

/** A draft, or an item the network refused, is put aside. */
export const reject = (item: Item, reason: string | undefined, now: Date): Item => {
  if (item.status !== 'drafted' && item.status !== 'publish_failed') illegal(item, 'reject')
  return { ...item, status: 'rejected', reject_reason: reason ?? null, updated_at: now }
}

interface Schedule {
  postAt: Date
  onMissed: OnMissed | null
  now: Date
}

/** Throws unless the item can be scheduled in its state. */
export const requireSchedulable = (item: Item): void => {
  if (item.status !== 'approved' && item.status !== 'publish_failed') illegal(item, 'schedule')
}

/** Sets or moves the time at which an approved item goes out. */
export const schedule = (item: Item, { postAt, onMissed, now }: Schedule): Item => {
  requireSchedulable(item)
  const ahead = postAt.getTime() - now.getTime()
  if (ahead < -PAST_TOLERANCE_MS) invalid('post_at', 'is in the past')
  if (ahead > FURTHEST_DAYS * 86_400_000) invalid('post_at', `is more than ${FURTHEST_DAYS} days ahead`)
  return { ...item, status: 'approved', post_at: postAt, on_missed: onMissed, last_error: null, updated_at: now }
}

/** Takes an item off the schedule; it stays approved. */
export const unschedule = (item: Item, now: Date): Item => {
  if (item.status !== 'approved' || !item.post_at) illegal(item, 'unschedule')
  return { ...item, post_at: null, on_missed: null, updated_at: now }
}

/**
 * A person published the item by hand, or found it on the network: it is posted. Settles an unconfirmed item too. The
 * address, when given, is kept as it is.
 */
export const markPosted = (item: Item, url: string | undefined, now: Date): Item => {
  if (item.status !== 'approved' && item.status !== 'publish_unconfirmed') illegal(item, 'mark posted')
  return posted(item, { externalId: null, url: url ?? null, now })
}

/** The one way an item becomes posted. */
export const posted = (item: Item, { externalId, url, now }: { externalId: string | null; url: string | null; now: Date }): Item => ({
  ...item,
  status: 'posted',
  review: false,
  post_at: null,
  on_missed: null,
  external_id: externalId,
  url,
  posted_at: now,
  last_error: null,
  updated_at: now,
})

/** `growth.item.posted`: written with every way an item becomes posted. */
export const postedEvent = (item: Item) => ({
  type: 'growth.item.posted',
  data: { item_id: item.id, batch_id: item.batch_id, external_id: item.external_id, url: item.url, posted_at: item.posted_at },
})

/** A person wants it out now, scheduled or not. What may be out there already is never sent again. */
export const requestPost = (item: Item, now: Date): Item => {
  if (item.status === 'publish_unconfirmed')
    fail('conflict', `cannot post: the item is ${stateOf(item)} and may already be on the network; check there, and mark it posted if so`)
  if (item.status !== 'approved' && item.status !== 'publish_failed') illegal(item, 'post')
  return { ...item, status: 'publishing', post_at: null, on_missed: null, updated_at: now }
}

const doubtView = (doubt: ItemDoubt | null) =>
  doubt && { ...doubt, next_read_at: doubt.next_read_at === null ? null : new Date(doubt.next_read_at) }

/** The item as every surface shows it. */
export const itemView = ({ approved_hash: _, account_external_id, metrics = null, doubt = null, ...item }: Item) => ({
  ...item,
  account: account_external_id,
  metrics: metrics && { ...metrics, at: new Date(metrics.at) },
  doubt: item.status === 'publish_unconfirmed' ? doubtView(doubt) : null,
})

/** The body of every answer about one item. */
export const itemAnswer = (item: Item): string => JSON.stringify({ item: itemView(item) })
