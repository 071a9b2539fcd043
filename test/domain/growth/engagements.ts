/** Engagements to start from, in each of their states. */
import { engagementStatuses } from '#contract/records/growth/engagement'
import {
  contentOf,
  type EngageAction,
  type Engagement,
  newEngagement,
} from '#domain/growth/drafting/engagement'
import { contentHash } from '#domain/growth/drafting/item'
import { ACCOUNT, at } from '#test/domain/records'

export const now = at(5_000)
export const rule = { measure: (text: string) => text.length, maxLength: 280 }
const post = {
  network: 'sandbox',
  post_id: '42',
  post_url: null,
  post_author: 'lena',
  post_text: 'Well?',
  addresses_us: true,
}
export const wish = {
  ...post,
  action: 'reply' as EngageAction,
  instruction: null as string | null,
  body: 'Well.' as string | null,
  signal_id: null,
}
export const made = (changes: Partial<typeof wish> = {}) =>
  newEngagement(
    'engagement-1',
    { ...wish, ...changes },
    {
      rule,
      source: { source_kind: 'system', source_id: null },
      by: null,
      now: at(),
    },
  )

export const drafted = made().engagement
export const bound = (changes: Partial<Engagement>): Engagement => ({
  ...drafted,
  account_external_id: ACCOUNT,
  approved_hash: contentHash(contentOf(drafted), ACCOUNT),
  ...changes,
})

export const stateNames = [...engagementStatuses, 'in review'] as const
export type StateName = (typeof stateNames)[number]
export const inState = (state: StateName): Engagement =>
  state === 'in review'
    ? bound({ status: 'execute_unconfirmed', review: true })
    : bound({ status: state })

export const by = { kind: 'person', id: 'ada' } as const
export const approval = { ...rule, body: undefined, accountExternalId: ACCOUNT, by, now }
