/** What a person is asked about texts that are created or changed. */
import type { Static } from '@sinclair/typebox'
import type { items } from '#contract/growth/items'
import { contentHash, type Item } from '#domain/growth/drafting/item'
import type { Connection } from '#domain/growth/sending/connection'
import { found } from '#kernel/errors'
import { when } from '#store/engine/load'
import { connectionPart } from '#store/growth/connections'
import { itemPart } from '#store/growth/items'
import { warningLoad, warningsFor } from '../growth/item-warnings.ts'
import {
  besides,
  type CallSummary,
  quoteBeginning,
  type Says,
  saying,
  summariseCall,
  warningText,
} from './saying.ts'

type InputOf<N extends keyof typeof items> = Static<(typeof items)[N]['input']>

const nameOf = ({ kind, title, body }: Item): string =>
  `the ${kind} ${quoteBeginning(title ?? body)}`

/** Binds the decision to the present text. */
const recordOf = (item: Item) => ({
  kind: 'item',
  id: item.id,
  sha256: contentHash(item.body, item.account_external_id),
})

/** What a change takes away: the approval and the time, if the item has them. */
const sayLoss = ({ status, post_at }: Item): string => {
  if (status !== 'approved' && status !== 'publishing') return ''
  return post_at === null
    ? '; it must then be approved again'
    : '; it is then not posted before it is approved and scheduled again'
}

/** The account that a call names: its handle, or that it names none. */
const chosenPart = (id: string | null | undefined) =>
  when(typeof id === 'string', connectionPart(id ?? ''))
const sayAccount = (
  id: string | null | undefined,
  account: Connection | undefined,
): string | undefined => {
  if (id === undefined) return undefined
  return id === null ? 'the default one' : `@${account?.handle ?? id}`
}

const posting = (account: Connection | undefined) => ({
  posting_account: account
    ? { id: account.id, handle: account.handle, network: account.network }
    : null,
})

const create = saying(
  ({ account, body }: InputOf<'create'>) => ({
    account: chosenPart(account),
    ...warningLoad({ id: null, body }),
  }),
  (
    { account, ...surroundings },
    { kind, channel, body, title, account: id, ...rest },
    networks,
  ): CallSummary => {
    const of = kind ?? (channel === 'articles' ? 'article' : 'post')
    const text =
      title === undefined
        ? quoteBeginning(body)
        : `${quoteBeginning(title)}, ${quoteBeginning(body)}`
    const others = besides({ channel, account: sayAccount(id, account), ...rest })
    const written = {
      body,
      kind: of,
      post_at: null,
      revision: 2,
      written_by: null,
      ...posting(account),
    }
    const warnings = warningText(warningsFor(written, networks, surroundings))
    return summariseCall(
      `Write a draft of ${of === 'article' ? 'an article' : 'a post'}: ${text}${others}${warnings}`,
      { text: body },
    )
  },
)

const edit = saying(
  ({ id, account, body }: InputOf<'edit'>) => ({
    item: itemPart(id),
    account: chosenPart(account),
    ...warningLoad({ id, body }),
  }),
  (
    { item: loaded, account, ...surroundings },
    { id: _, body, title, account: chosenId, ...rest },
    networks,
  ): CallSummary => {
    const item = found(loaded, 'no such item')
    const to = [
      ...(title === undefined ? [] : [`the title ${quoteBeginning(title)}`]),
      ...(body === undefined ? [] : [quoteBeginning(body)]),
    ]
    const others = besides({ account: sayAccount(chosenId, account), ...rest })
    const isAnew = to.length > 0 || chosenId !== undefined
    const written = { ...item, body: body ?? item.body, revision: item.revision + 1, post_at: null }
    const warnings =
      body === undefined ? '' : warningText(warningsFor(written, networks, surroundings))
    const change = `${to.length > 0 ? ` to ${to.join(' and ')}` : ''}${others}`
    return summariseCall(
      `Change ${nameOf(item)}${change}${isAnew ? sayLoss(item) : ''}${warnings}`,
      {
        records: [recordOf(item)],
        text: body ?? null,
      },
    )
  },
)

const reopen = saying(
  ({ id }: InputOf<'reopen'>) => ({ item: itemPart(id) }),
  (loaded): CallSummary => {
    const item = found(loaded.item, 'no such item')
    return summariseCall(`Make ${nameOf(item)} a draft again${sayLoss(item)}`, {
      records: [recordOf(item)],
    })
  },
)

export const itemTextSayings = {
  'growth.items.create': create,
  'growth.items.edit': edit,
  'growth.items.reopen': reopen,
} satisfies Record<string, Says<never>>
