import type { Network, NetworkLimits } from './network.ts'

/**
 * The networks of this deployment, by name. Without a connected account the first one's rules
 * apply.
 */
export interface Networks {
  named(name: string): Network | undefined
  readonly first: Network
}

export const networksOf = (first: Network, ...others: Network[]): Networks => {
  const byName = new Map([first, ...others].map((network) => [network.name, network]))
  return { first, named: (name) => byName.get(name) }
}

/** The limits of an account's network; without an account, of the first network. */
export const limitsFor = (
  networks: Networks,
  account: { network: string } | undefined,
): NetworkLimits => ((account && networks.named(account.network)) ?? networks.first).limits
