import type { Static } from '@sinclair/typebox'
import type { engagements } from '#contract/growth/engagements'
import {
  contentOf,
  type EngageAction,
  type Engagement,
  isWritten,
} from '#domain/growth/drafting/engagement'
import { isInReview } from '#domain/growth/drafting/engagement-moves'
import { contentHash } from '#domain/growth/drafting/item'
import type { Connection } from '#domain/growth/sending/connection'
import { found } from '#kernel/errors'
import { accountOfRecord } from '#store/growth/attempts'
import { defaultPart } from '#store/growth/connections'
import { engagementPart } from '#store/growth/engagements'
import {
  type CallSummary,
  quoteBeginning,
  type Says,
  saying,
  seenText,
  sha256,
  summariseCall,
} from './saying.ts'

type InputOf<N extends keyof typeof engagements> = Static<(typeof engagements)[N]['input']>
type Account = Pick<Connection, 'network' | 'external_id' | 'handle'> | undefined

const requireEngagement = (engagement: Engagement | undefined): Engagement =>
  found(engagement, 'no such engagement')

const nouns: Record<EngageAction, [before: string, after: string]> = {
  reply: ['the reply', 'to'],
  quote: ['the quote', 'of'],
  repost: ['the repost', 'of'],
  like: ['the like', 'of'],
}

/** The author's name is text of somebody else. */
const postOf = ({ post_author: author }: Engagement): string =>
  author === null ? 'a post' : `a post by ${quoteBeginning(author)}`

/** `the reply “We call first” to a post by “ships_on_tuesday”`. */
const nameOf = (engagement: Engagement): string => {
  const [before, after] = nouns[engagement.action]
  const words = engagement.body === null ? '' : ` ${quoteBeginning(engagement.body)}`
  return `${before}${words} ${after} ${postOf(engagement)}`
}

const doing = (engagement: Engagement): string => {
  if (isWritten(engagement.action)) return `Send ${nameOf(engagement)}`
  return `${engagement.action === 'like' ? 'Like' : 'Repost'} ${postOf(engagement)}`
}

/**
 * As for items: the hash that its approval is bound to, but a different one while it is in review.
 */
const engagementHash = (engagement: Engagement, account: Account): string => {
  const content = contentHash(
    contentOf(engagement),
    engagement.account_external_id ?? account?.external_id ?? null,
  )
  return isInReview(engagement) ? sha256(`in review ${content}`) : content
}

/** Only an account on the engagement's network can send it. */
const senderOf = ({ network }: Engagement, account: Account): Account =>
  account?.network === network ? account : undefined
const nameAccount = (account: Account): string =>
  account ? ` from @${account.handle}` : ', with no account connected'

const recordOf = (engagement: Engagement, account: Account) => ({
  records: [{ kind: 'engagement', id: engagement.id, sha256: engagementHash(engagement, account) }],
})

const approve = saying(
  ({ id }: InputOf<'approve'>) => ({ engagement: engagementPart(id), account: defaultPart }),
  (loaded, { body, expect_hash, execute: sends }): CallSummary => {
    const before = requireEngagement(loaded.engagement)
    const account = senderOf(before, loaded.account)
    const record = recordOf(before, account)
    const seen = seenText(expect_hash)
    if (isInReview(before) && body === undefined && !sends)
      return summariseCall(
        `Confirm that ${nameOf(before)} is on the network${seen}; nothing is sent`,
        record,
      )
    const text = body ?? before.body
    const change =
      body === undefined || body === before.body ? '' : `, changed to ${quoteBeginning(body)},`
    const end = sends ? ' and send it now' : ' so that it can be executed'
    const summary = `Approve ${nameOf(before)}${change}${end}${nameAccount(account)}${seen}`
    return summariseCall(summary, {
      ...record,
      account: account?.handle ?? null,
      text: isWritten(before.action) ? text : null,
    })
  },
)

const execute = saying(
  ({ id }: InputOf<'execute'>) => ({
    engagement: engagementPart(id),
    account: accountOfRecord({ sendable: 'engagement', record_id: id }),
  }),
  (loaded): CallSummary => {
    const engagement = requireEngagement(loaded.engagement)
    const account = senderOf(engagement, loaded.account)
    const sender = { account: account?.handle ?? null, text: engagement.body }
    return summariseCall(`${doing(engagement)} now${nameAccount(account)}`, {
      ...recordOf(engagement, account),
      ...sender,
    })
  },
)

export const engagementSayings = {
  'growth.engagements.approve': approve,
  'growth.engagements.execute': execute,
} satisfies Record<string, Says<never>>
