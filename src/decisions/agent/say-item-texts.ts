/** What a person is asked about texts that are written or changed. */
import type { Static } from '@sinclair/typebox'
import type { items } from '#contract/growth/items'
import { contentHash, type Item } from '#domain/growth/drafting/item'
import { found } from '#kernel/errors'
import { itemPart } from '#store/growth/items'
import { quoted, type Said, type Says, said, saying } from './saying.ts'

type InputOf<N extends keyof typeof items> = Static<(typeof items)[N]['input']>

const nameOf = ({ kind, title, body }: Item): string => `the ${kind} ${quoted(title ?? body)}`

/** Bound to the text as it stands. */
const recordOf = (item: Item) => ({ kind: 'item', id: item.id, sha256: contentHash(item.body, item.account_external_id) })

/** A change takes the approval and the time away, if the item has them. */
const lost = ({ status, post_at }: Item): string => {
  if (status !== 'approved' && status !== 'publishing') return ''
  return post_at === null ? '; it must then be approved again' : '; it is then not posted before it is approved and scheduled again'
}

const create = saying(
  () => ({}),
  (_, { kind, body, title }: InputOf<'create'>): Said =>
    said(`Write a draft of a ${kind ?? 'post'}: ${quoted(title ?? body)}`, { text: body }),
)

const edit = saying(
  ({ id }: InputOf<'edit'>) => ({ item: itemPart(id) }),
  (loaded, { body, title }): Said => {
    const item = found(loaded.item, 'no such item')
    const isText = body !== undefined || title !== undefined
    const to = isText ? ` to ${quoted(title ?? body ?? '')}` : ''
    return said(`Change ${nameOf(item)}${to}${isText ? lost(item) : ''}`, { records: [recordOf(item)], text: body ?? null })
  },
)

const reopen = saying(
  ({ id }: InputOf<'reopen'>) => ({ item: itemPart(id) }),
  (loaded): Said => {
    const item = found(loaded.item, 'no such item')
    return said(`Make ${nameOf(item)} a draft again${lost(item)}`, { records: [recordOf(item)] })
  },
)

export const itemTextSayings = {
  'growth.items.create': create,
  'growth.items.edit': edit,
  'growth.items.reopen': reopen,
} satisfies Record<string, Says<never>>
