import type { Network, NetworkLimits } from './network.ts'

/** The networks of this deployment, by name; the first one's rules hold where no account is connected. */
export interface Networks {
  named(name: string): Network | undefined
  readonly first: Network
}

export const networksOf = (first: Network, ...others: Network[]): Networks => {
  const byName = new Map([first, ...others].map((network) => [network.name, network]))
  return { first, named: (name) => byName.get(name) }
}

/** What the network of an account can do; of the first network where there is no account. */
export const limitsFor = (networks: Networks, account: { network: string } | undefined): NetworkLimits =>
  ((account && networks.named(account.network)) ?? networks.first).limits
