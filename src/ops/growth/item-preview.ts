import type { itemPreview } from '#contract/growth/item-preview'
import { surroundings } from '#decisions/growth/item-warnings'
import { channelFor, limitOf } from '#domain/growth/drafting/growth-channel'
import { textFaults } from '#domain/growth/drafting/item-moves'
import { toBeWarned } from '#domain/growth/drafting/item-view'
import { findLinks } from '#domain/growth/drafting/links'
import { withNewlines, writtenFault } from '#domain/growth/drafting/written-text'
import { faultOfArticles } from '#domain/growth/sending/account-fit'
import { fail, found } from '#kernel/errors'
import { normalForm } from '#kernel/normal-form'
import type { NetworkPrices } from '#port/network/prices'
import { limitsFor } from '#port/network/registry'
import { when } from '#store/engine/load'
import { connectionPart, defaultPart } from '#store/growth/connections'
import { keptMarksPart } from '#store/growth/items'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { markedText } from './shared/marking.ts'
import { takerOf } from './shared/slot.ts'

const costOf = (body: string, prices: NetworkPrices | null): number | null =>
  prices && (findLinks(normalForm(body, 'NFC')).length > 0 ? prices.postWithLink : prices.post)

export const itemPreviewHandlers: Handlers<typeof itemPreview> = {
  preview: loading(
    ({ account, item_id: itemId = null, post_at }) => ({
      account: account === undefined ? defaultPart : connectionPart(account),
      kept: when(itemId !== null, keptMarksPart(itemId ?? '')),
      taker: takerOf(itemId, { post_at, account }),
      ...surroundings,
    }),
    (
      { body: given, kind = 'post', account: chosen, post_at: at },
      { networks },
      { account, channels, profile, kept },
    ) => {
      const body = withNewlines(given)
      if (chosen !== undefined && found(account, 'no such account').status !== 'connected')
        fail(
          'conflict',
          `the account @${account?.handle} is not connected; connect it again, or choose another`,
          { reason: 'missing_prerequisite' },
        )
      const limits = limitsFor(networks, account)
      const name = channelFor(kind)
      const channel = channels.find((one) => one.name === name)
      const maxLength = limitOf(name, limits)
      const fault = writtenFault(body)
      const taken = kind === 'article' ? faultOfArticles({ account, limits }) : undefined
      const faults = [
        ...[fault, taken].filter((one) => one !== undefined),
        ...textFaults(body, { measure: limits.measure, maxLength, channel }),
      ]
      const posting_account = account
        ? { id: account.id, handle: account.handle, network: account.network }
        : null
      // Treated as a person's text, whoever wrote it first: nobody previews what a drafter has just
      // checked.
      const post_at = at === undefined ? null : new Date(at)
      const item = { body, kind, post_at, revision: 2, written_by: null, posting_account }
      const preview = {
        body,
        ...markedText(networks, { body, account, profile, kept: kept?.marks ?? null }),
        length: limits.measure(body),
        max_length: maxLength,
        can_be_approved: faults.length === 0,
        faults,
        warnings: toBeWarned(item),
        posting_account,
        cost_micros: costOf(body, limits.prices),
      }
      return { reply: { preview }, unchanged: true }
    },
    ({ body, item_id = null }) => ({ id: item_id, body: withNewlines(body), isDecided: true }),
  ),
}
