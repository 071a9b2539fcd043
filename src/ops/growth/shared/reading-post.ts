/**
 * Reads the network post that a command is about, before its letter. The day's read budget is
 * charged first.
 */
import { engagements } from '#contract/growth/engagements'
import { accountOf } from '#decisions/growth/timeline'
import { requireFeature, takeCap } from '#domain/app/plan'
import { costOf, readBudgetOf, takeReads } from '#domain/app/read-budget'
import {
  type EngageAction,
  type EngagedPost,
  requireFirst,
} from '#domain/growth/drafting/engagement'
import type { Connection } from '#domain/growth/sending/connection'
import { AppError, fail } from '#kernel/errors'
import { type Network, NetworkError, type OthersPost } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import type { Sql } from '#store/engine/db'
import type { Effects, Gate } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { currentDefault } from '#store/growth/connections'
import { engagementOn } from '#store/growth/engagements'
import type { World } from '../../engine/call.ts'

export type PostReading =
  | { kind: 'read'; network: Network; post: OthersPost | null }
  /** No account is connected. */
  | { kind: 'unread'; network: Network }
  | { kind: 'failed'; error: AppError }

export interface WantedPost {
  /** A URL or id. */
  post: string
  action: EngageAction
}

const READ_DEADLINE_MS = 10_000

type Reserved = { account: Connection; network: Network } | { instead: PostReading }

/** The post's id from a URL or id. Throws `invalid_input`. */
export const postIdOf = (network: Network, ref: string): string => {
  const message = `is neither the id nor the URL of a post on ${network.name}`
  return (
    network.postIdIn(ref) ??
    fail('invalid_input', `post ${message}`, { details: [{ path: 'post', message }] })
  )
}

/** Charges the read budget. Skips the read if the command will be refused anyway. */
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
    requireFirst(
      action,
      (await loadNow(sql, { other: engagementOn({ network: network.name, postId, action }) }))
        .other,
    )
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

interface Failure extends ErrorOptions {
  reason: NetworkError['reason']
  retryAfterMs?: number | undefined
}

/** The caller's error for what the network answered instead. */
export const unreadError = ({ reason, retryAfterMs = 1_000, cause }: Failure): AppError =>
  reason === 'rate_limited'
    ? new AppError('rate_limited', 'network', {
        retryAfter: Math.ceil(retryAfterMs / 1_000),
        cause,
      })
    : new AppError('network_error', reason, { cause })

/** The caller's error when the network could not be read. */
const failureOf = (cause: unknown): AppError => {
  if (!(cause instanceof NetworkError)) throw cause
  const { reason, retryAfterMs } = cause
  return unreadError({ reason, retryAfterMs, cause })
}

/**
 * Reads outside the mailbox. Returns failures instead of throwing them: the command's letter throws
 * them, unless it is a replay.
 */
export const readPostFor = async (
  { ask, networks }: Pick<World, 'ask' | 'networks'>,
  tenantId: string,
  wanted: WantedPost,
): Promise<PostReading> => {
  const reserved = await ask<Reserved>(tenantId, {
    name: 'reads.reserve',
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'read' }, surface: 'rest' },
    decide: (sql, gate) => reserve(networks, wanted, { sql, gate }),
  })
  if ('instead' in reserved) return reserved.instead
  const { network, account } = reserved
  const reader = accountOf(account)
  try {
    return {
      kind: 'read',
      network,
      post: await network.readPost(reader, wanted.post, AbortSignal.timeout(READ_DEADLINE_MS)),
    }
  } catch (cause) {
    return { kind: 'failed', error: failureOf(cause) }
  }
}

/** A network's answer; its failure as the caller's error. */
export const translateFailure = <T>(running: Promise<T>): Promise<T> =>
  running.catch((cause) => {
    throw failureOf(cause)
  })

/** The post in the form that engagements store. */
export const storedPost = (
  network: Network,
  { externalId, url, author, text, addressesUs }: OthersPost,
): EngagedPost => ({
  network: network.name,
  post_id: externalId,
  post_url: url,
  post_author: author.handle,
  post_text: text,
  addresses_us: addressesUs,
})
