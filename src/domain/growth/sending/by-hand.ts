/**
 * What a URL tells about an item that a person posted by hand. The post is read back once, so that
 * it can be measured.
 */
import type { Item } from '../drafting/item.ts'

/**
 * Waits between tries to read the post, in minutes. After the last try the item keeps only its URL.
 */
const WAITS_MIN = [1, 5, 30, 120, 360, 720, 1_440]

/**
 * When to try again after this many tries; null: never. Never earlier than the network asks for.
 */
export const nextTry = (tries: number, now: Date, retryAfterMs = 0): Date | null => {
  const wait = WAITS_MIN[tries]
  return wait === undefined
    ? null
    : new Date(now.getTime() + Math.max(wait * 60_000, Math.min(retryAfterMs, 86_400_000)))
}

/**
 * Whether its post must still be found: the item was marked as posted, with a URL, and the post's
 * id is not known.
 */
export const isUnread = ({ status, external_id, url }: Item): boolean =>
  status === 'posted' && external_id === null && url !== null

interface ReadPost {
  externalId: string
  author: { externalId: string; handle: string }
  createdAt: Date
}

interface Read {
  /** Null if the network has no such post. */
  post: ReadPost | null
  /** The network's id of the account that should have posted the item. */
  accountExternalId: string
  /** Whether the post belongs to another item. */
  isTaken: boolean
  now: Date
}

/**
 * The item with the id of its post. If the URL is not its post, the item stays posted, with the
 * reason.
 */
export const readByHand = (item: Item, { post, accountExternalId, isTaken, now }: Read): Item => {
  if (!post) return unreadable(item, 'url_not_found: the network has no such post', now)
  if (post.author.externalId !== accountExternalId)
    return unreadable(item, `url_of_another_account: the post is by @${post.author.handle}`, now)
  if (isTaken) return unreadable(item, 'url_of_another_item: the post is that of another item', now)
  const posted_at =
    item.posted_at && item.posted_at < post.createdAt ? item.posted_at : post.createdAt
  return {
    ...item,
    external_id: post.externalId,
    account_external_id: accountExternalId,
    posted_at,
    last_error: null,
    updated_at: now,
  }
}

/** The item stays posted, but its post remains unknown. */
export const unreadable = (item: Item, last_error: string, now: Date): Item => ({
  ...item,
  last_error,
  updated_at: now,
})
