import type { Static } from '@sinclair/typebox'
import type { items } from '#contract/growth/items'
import { NEXT_SLOT } from '#contract/shapes'
import { contentHash, type Item } from '#domain/growth/drafting/item'
import { approvedText } from '#domain/growth/drafting/item-moves'
import type { Connection } from '#domain/growth/sending/connection'
import { timeAt } from '#kernel/calendar'
import { found } from '#kernel/errors'
import { accountOfRecord } from '#store/growth/attempts'
import { accountOfItem } from '#store/growth/connections'
import { itemPart } from '#store/growth/items'
import { profilePart } from '#store/growth/profiles'
import { quoted, type Said, type Says, said, saying, sha256 } from './saying.ts'

type InputOf<N extends keyof typeof items> = Static<(typeof items)[N]['input']>
type Account = Pick<Connection, 'external_id' | 'handle'> | undefined

const the = (item: Item | undefined): Item => found(item, 'no such item')

const nameOf = ({ kind, title, body }: Item): string => (kind === 'article' ? `the article ${quoted(title ?? body)}` : quoted(body))
const from = (account: Account): string => (account ? ` from @${account.handle}` : '')

/**
 * What the item says now, and the account that it would go out from: the hash to which its approval is bound. An item in doubt has
 * another one, since what is done with it means something else.
 */
const itemHash = (item: Item, account: Account): string => {
  const content = contentHash(item.body, item.account_external_id ?? account?.external_id ?? null)
  return item.status === 'publish_unconfirmed' ? sha256(`in doubt ${content}`) : content
}

const about = (item: Item, account: Account, text: string | null) => ({
  records: [{ kind: 'item', id: item.id, sha256: itemHash(item, account) }],
  account: text === null ? null : (account?.handle ?? null),
  text,
})

/** An item, and the account that it goes out from. */
const sent = (id: string) => ({ item: itemPart(id), account: accountOfRecord({ sendable: 'post', record_id: id }) })

const approve = saying(
  ({ id }: InputOf<'approve'>) => ({ item: itemPart(id), account: accountOfItem(id) }),
  ({ account, ...loaded }, { edited_body, title }): Said => {
    const item = the(loaded.item)
    const { body } = approvedText(item, { editedBody: edited_body, title })
    const change = body === item.body ? '' : `, changed to ${quoted(body)},`
    const draft = item.kind === 'article' ? nameOf(item) : `the draft ${nameOf(item)}`
    return said(`Approve ${draft}${change} so that it can be scheduled or posted${from(account)}`, about(item, account, body))
  },
)

const schedule = saying(
  ({ id }: InputOf<'schedule'>) => ({ ...sent(id), profile: profilePart }),
  ({ account, profile: { profile }, ...loaded }, { post_at }): Said => {
    const item = the(loaded.item)
    const at = (time: Date) => `${timeAt(time, profile.time_zone)} (${profile.time_zone})`
    const when = post_at === NEXT_SLOT ? 'in the next free slot' : `at ${at(new Date(post_at))}`
    const before = item.post_at ? `, instead of at ${at(item.post_at)}` : ''
    return said(`Schedule ${nameOf(item)} to go out${from(account)} ${when}${before}`, about(item, account, item.body))
  },
)

const postNow = saying(
  ({ id }: InputOf<'postNow'>) => sent(id),
  ({ account, ...loaded }, { confirm }): Said => {
    const item = the(loaded.item)
    const isAgain = confirm !== undefined && item.status === 'publish_unconfirmed'
    const how = isAgain ? ' again, although it may already be on the network,' : ' now'
    return said(`Post ${nameOf(item)}${how}${from(account)}`, about(item, account, item.body))
  },
)

const markPosted = saying(
  ({ id }: InputOf<'markPosted'>) => sent(id),
  ({ account, ...loaded }, { url }): Said => {
    const item = the(loaded.item)
    const how = item.status === 'publish_unconfirmed' ? 'found on the network' : 'posted by hand'
    const where = url === undefined ? '' : ` at ${quoted(url)}`
    return said(`Mark ${nameOf(item)} as ${how}${where}; nothing is sent`, about(item, account, null))
  },
)

export const itemSayings = {
  'growth.items.approve': approve,
  'growth.items.schedule': schedule,
  'growth.items.postNow': postNow,
  'growth.items.markPosted': markPosted,
} satisfies Record<string, Says<never>>
