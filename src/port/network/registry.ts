import type { PostingNetwork } from '#domain/growth/metrics'
import type { Network, NetworkLimits } from './network.ts'

/**
 * The networks of this deployment, by name. Without a connected account the first one's rules
 * apply.
 */
export interface Networks {
  named(name: string): Network | undefined
  readonly first: Network
  /** The names of those that count no impressions. */
  readonly uncounted: readonly string[]
  /** The names of those whose posts have marks. */
  readonly marking: readonly string[]
}

export const networksOf = (first: Network, ...others: Network[]): Networks => {
  const byName = new Map([first, ...others].map((network) => [network.name, network]))
  const uncounted = [...byName.values()].flatMap(({ name, limits }) =>
    limits.counts.includes('impressions') ? [] : [name],
  )
  const marking = [...byName.values()].flatMap(({ name, marks }) => (marks ? [name] : []))
  return { first, uncounted, marking, named: (name) => byName.get(name) }
}

/** An account's network; without an account, the first network. */
export const networkFor = (networks: Networks, account: { network: string } | undefined): Network =>
  (account && networks.named(account.network)) ?? networks.first

export const limitsFor = (
  networks: Networks,
  account: { network: string } | undefined,
): NetworkLimits => networkFor(networks, account).limits

/** What is counted for the posts of an account. */
export const countingFor = (
  networks: Networks,
  account: { network: string } | undefined,
): PostingNetwork => {
  const { name, limits } = networkFor(networks, account)
  return { name, counts: limits.counts }
}
