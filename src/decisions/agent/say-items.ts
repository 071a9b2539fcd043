import type { Static } from '@sinclair/typebox'
import type { items } from '#contract/growth/items'
import { NEXT_SLOT } from '#contract/shapes'
import { contentMark } from '#domain/growth/drafting/content-mark'
import { contentHash, type Item } from '#domain/growth/drafting/item'
import { approvedText } from '#domain/growth/drafting/item-moves'
import { marksOfItem } from '#domain/growth/drafting/item-view'
import { marksShown } from '#domain/growth/drafting/marks'
import type { OnMissed } from '#domain/growth/drafting/profile'
import type { Connection } from '#domain/growth/sending/connection'
import { found } from '#kernel/errors'
import type { Networks } from '#port/network/registry'
import { accountOfRecord } from '#store/growth/attempts'
import { accountOfItem } from '#store/growth/connections'
import { itemPart } from '#store/growth/items'
import { type WarningFound, warningLoad, warningsFor } from '../growth/item-warnings.ts'
import {
  type CallSummary,
  clockText,
  quoteBeginning,
  type Says,
  saying,
  seenText,
  sha256,
  summariseCall,
  warningText,
} from './saying.ts'

type InputOf<N extends keyof typeof items> = Static<(typeof items)[N]['input']>
type Account = Pick<Connection, 'external_id' | 'handle'> | undefined

const requireItem = (item: Item | undefined): Item => found(item, 'no such item')

const nameOf = ({ kind, title, body }: Item): string =>
  kind === 'article' ? `the article ${quoteBeginning(title ?? body)}` : quoteBeginning(body)
const nameAccount = (account: Account): string =>
  account ? ` from @${account.handle}` : ', with no account connected'

/**
 * Binds a decision to the present text, what is shown beside it, and the account: the hash that the
 * item's approval is bound to, but for the language.
 * An item in doubt gets a different hash, because the same call then means something else.
 */
const itemHash = (item: Item, account: Account): string => {
  const bound = item.account_external_id ?? account?.external_id ?? null
  const content = contentHash(item.body, bound, marksShown(marksOfItem(item)))
  return item.status === 'publish_unconfirmed' ? sha256(`in doubt ${content}`) : content
}

const bindItem = (item: Item, account: Account, text: string | null) => ({
  records: [{ kind: 'item', id: item.id, sha256: itemHash(item, account) }],
  account: text === null ? null : (account?.handle ?? null),
  text,
})

/** An item, and the account that it is sent from. */
const loadSent = (id: string) => ({
  item: itemPart(id),
  account: accountOfRecord({ sendable: 'post', record_id: id }),
})

/** What people would see beside the text. The words of a page are quoted, and cut. */
const besideText = (item: Item): string => {
  const { card, mentions } = marksShown(marksOfItem(item)) ?? { card: null, mentions: [] }
  const shown = [
    ...(mentions.length > 0
      ? [`mentions ${mentions.map(({ handle }) => `@${handle}`).join(' and ')}`]
      : []),
    ...(card ? [`shows a card of ${card.url} with the title ${quoteBeginning(card.title)}`] : []),
  ]
  return shown.length === 0 ? '' : `; it ${shown.join(' and ')}`
}

/** Whoever names the text alone approves it without what is beside it. */
const isSeen = (item: Item, hash: string | undefined): boolean =>
  hash === undefined || contentMark(item.body, marksOfItem(item)).startsWith(hash)

interface Timing {
  post_at: string
  on_missed?: OnMissed | undefined
  only_if_free?: boolean | undefined
}

/** When it is posted, and what happens if that time is taken or missed. */
const timing = (
  { post_at: postAt, on_missed: onMissed, only_if_free: isLone }: Timing,
  zone: string,
): string => {
  const time =
    postAt === NEXT_SLOT ? 'in the next free slot' : `at ${clockText(new Date(postAt), zone)}`
  const when = isLone ? `${time}, if no other post of the account has that minute` : time
  if (onMissed === undefined) return when
  return `${when} (if missed: ${onMissed === 'post' ? 'post it while less than an hour late' : 'skip it'})`
}

/** The warnings for the item with the text and time that the call gives it. */
const warningsOf = (
  item: Item,
  found: WarningFound,
  networks: Networks,
  change: { body?: string; postAt?: string | undefined } = {},
) => {
  const { body = item.body, postAt } = change
  const at = postAt === undefined || postAt === NEXT_SLOT ? null : new Date(postAt)
  const revision = body === item.body ? item.revision : item.revision + 1
  const all = warningsFor(
    { ...item, body, revision, post_at: postAt === undefined ? item.post_at : at },
    networks,
    found,
  )
  // Every sentence ends with the characters that nobody would see: see shownSummary.
  return warningText(all.filter(({ code }) => code !== 'unseen_characters'))
}

const approve = saying(
  ({ id, edited_body }: InputOf<'approve'>) => ({
    item: itemPart(id),
    account: accountOfItem(id),
    ...warningLoad({ id, body: edited_body }),
  }),
  (
    { account, item: loaded, ...surroundings },
    { edited_body, title, post_at, on_missed, only_if_free, expect_hash },
    networks,
  ): CallSummary => {
    const item = requireItem(loaded)
    const { body } = approvedText(item, { editedBody: edited_body, title })
    const isChanged = edited_body !== undefined && edited_body !== item.body
    const change = isChanged ? `, changed to ${quoteBeginning(edited_body)},` : ''
    const titled = title === undefined ? '' : `, with the title ${quoteBeginning(title)},`
    const draft = item.kind === 'article' ? nameOf(item) : `the draft ${nameOf(item)}`
    const zone = surroundings.profile.profile.time_zone
    const then =
      post_at === undefined
        ? `so that it can be scheduled or posted${nameAccount(account)}`
        : `and schedule it to go out${nameAccount(account)} ${timing({ post_at, on_missed, only_if_free }, zone)}`
    const lone =
      post_at === undefined
        ? `${on_missed === undefined ? '' : ` (if missed: ${on_missed})`}${only_if_free ? ' (only if the minute is free)' : ''}`
        : ''
    const warnings = warningsOf(item, surroundings, networks, { body, postAt: post_at })
    const beside = body === item.body && isSeen(item, expect_hash) ? besideText(item) : ''
    const summary = `Approve ${draft}${change}${titled} ${then}${lone}${seenText(expect_hash)}${beside}${warnings}`
    return summariseCall(summary, bindItem(item, account, body))
  },
)

const schedule = saying(
  ({ id }: InputOf<'schedule'>) => ({ ...loadSent(id), ...warningLoad({ id }) }),
  ({ account, item: loaded, ...surroundings }, { id: _, ...times }, networks): CallSummary => {
    const item = requireItem(loaded)
    const zone = surroundings.profile.profile.time_zone
    const before = item.post_at ? `, instead of at ${clockText(item.post_at, zone)}` : ''
    const warnings = warningsOf(item, surroundings, networks, { postAt: times.post_at })
    const summary = `Schedule ${nameOf(item)} to go out${nameAccount(account)} ${timing(times, zone)}${before}${besideText(item)}${warnings}`
    return summariseCall(summary, bindItem(item, account, item.body))
  },
)

const postNow = saying(
  ({ id }: InputOf<'postNow'>) => ({ ...loadSent(id), ...warningLoad({ id }) }),
  ({ account, item: loaded, ...surroundings }, { confirm }, networks): CallSummary => {
    const item = requireItem(loaded)
    const isAgain = confirm !== undefined && item.status === 'publish_unconfirmed'
    const how = isAgain ? ' again, although it may already be on the network,' : ' now'
    const ignored = confirm !== undefined && !isAgain ? ' (not again: it is not in doubt)' : ''
    const warnings = warningsOf({ ...item, post_at: null }, surroundings, networks)
    return summariseCall(
      `Post ${nameOf(item)}${how}${nameAccount(account)}${ignored}${besideText(item)}${warnings}`,
      bindItem(item, account, item.body),
    )
  },
)

const markPosted = saying(
  ({ id }: InputOf<'markPosted'>) => loadSent(id),
  ({ account, ...loaded }, { url }): CallSummary => {
    const item = requireItem(loaded.item)
    const how = item.status === 'publish_unconfirmed' ? 'found on the network' : 'posted by hand'
    const where = url === undefined ? '' : ` at ${quoteBeginning(url)}`
    return summariseCall(
      `Mark ${nameOf(item)} as ${how}${where}; nothing is sent`,
      bindItem(item, account, null),
    )
  },
)

export const itemSayings = {
  'growth.items.approve': approve,
  'growth.items.schedule': schedule,
  'growth.items.postNow': postNow,
  'growth.items.markPosted': markPosted,
} satisfies Record<string, Says<never>>
