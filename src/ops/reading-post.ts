/** A network post that a command is about, read before its letter: what the read may cost is taken from the day's budget first. */
import { engagements } from '#contract/growth/engagements'
import { requireFeature, takeCap } from '#domain/app/plan'
import { costOf, readBudgetOf, takeReads } from '#domain/app/read-budget'
import { type EngageAction, type EngagedPost, requireFirst } from '#domain/growth/drafting/engagement'
import type { Connection } from '#domain/growth/sending/connection'
import { AppError, fail } from '#kernel/errors'
import { type Network, NetworkError, type OthersPost } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import type { Sql } from '#store/engine/db'
import type { Effects, Gate } from '#store/engine/letter'
import { currentDefault } from '#store/growth/connections'
import { engagementOn } from '#store/growth/engagements'
import type { World } from './call.ts'

/** How the post was found, or why not. */
export type Reading =
  | { kind: 'read'; network: Network; post: OthersPost | null }
  /** No account is connected to read it. */
  | { kind: 'unread'; network: Network }
  | { kind: 'failed'; error: AppError }

export interface WantedPost {
  /** An address or id. */
  post: string
  action: EngageAction
}

const READ_DEADLINE_MS = 10_000

type Reserved = { account: Connection; network: Network } | { instead: Reading }

/** The id in a reference, or `invalid_input`. */
export const postIdOf = (network: Network, ref: string): string => {
  const message = `is neither an id nor an address of a post on ${network.name}`
  return network.postIdIn(ref) ?? fail('invalid_input', `post ${message}`, { details: [{ path: 'post', message }] })
}

/** Nothing is read for what will be refused in any case, or is there already. */
const reserve = async (
  networks: Networks,
  { post, action }: WantedPost,
  { sql, gate }: { sql: Sql; gate: Gate },
): Promise<{ reply: Reserved; effects?: Effects }> => {
  const account = await currentDefault(sql)
  const network = account && networks.named(account.network)
  if (!network) return { reply: { instead: { kind: 'unread', network: networks.first } } }
  try {
    const postId = postIdOf(network, post)
    requireFirst(action, await engagementOn(sql, { network: network.name, postId, action }))
    const { feature, cap } = engagements.create
    requireFeature(gate.plan, feature)
    takeCap(gate, cap)
    const { tier } = network.limits
    const taken = takeReads(readBudgetOf(gate, tier), costOf(tier, 'post', 1), gate.now)
    return { reply: { account, network }, effects: { spend: [taken] } }
  } catch (cause) {
    if (cause instanceof AppError) return { reply: { instead: { kind: 'failed', error: cause } } }
    throw cause
  }
}

/** What a person is told when the network could not be read. */
const failureOf = (cause: unknown): AppError => {
  if (!(cause instanceof NetworkError)) throw cause
  const { reason, retryAfterMs = 1_000 } = cause
  return reason === 'rate_limited'
    ? new AppError('rate_limited', 'network', { retryAfter: Math.ceil(retryAfterMs / 1_000), cause })
    : new AppError('network_error', reason, { cause })
}

/** Reads outside of any letter. What fails is told later, when the command is decided: a replay needs no post. */
export const readingPost = async (
  { ask, networks }: Pick<World, 'ask' | 'networks'>,
  tenantId: string,
  wanted: WantedPost,
): Promise<Reading> => {
  const reserved = await ask<Reserved>(tenantId, {
    name: 'reads.reserve',
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'read' }, surface: 'rest' },
    decide: (sql, gate) => reserve(networks, wanted, { sql, gate }),
  })
  if ('instead' in reserved) return reserved.instead
  const { network, account } = reserved
  const reader = { id: account.id, externalId: account.external_id, handle: account.handle }
  try {
    return { kind: 'read', network, post: await network.readPost(reader, wanted.post, AbortSignal.timeout(READ_DEADLINE_MS)) }
  } catch (cause) {
    return { kind: 'failed', error: failureOf(cause) }
  }
}

/** The post as an engagement keeps it. */
export const engagedPost = (network: Network, { externalId, url, author, text, addressesUs }: OthersPost): EngagedPost => ({
  ...{ network: network.name, post_id: externalId, post_url: url, post_author: author.handle, post_text: text, addresses_us: addressesUs },
})
