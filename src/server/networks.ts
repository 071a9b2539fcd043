/** The networks on which accounts post, and HTTP to addresses that workspaces chose. */
import type { Sealer } from '#kernel/sealer'
import type { Egress } from '#port/egress/egress'
import { type BlueskyNetwork, blueskyNetwork } from '#port/network/bluesky/network'
import { type Networks, networksOf } from '#port/network/registry'
import { parseFaults } from '#port/network/sandbox/faults'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { createSandbox, type Sandbox } from '#port/network/sandbox/sandbox'
import { egressOf } from './egress.ts'
import type { StartupContext } from './opening.ts'

interface OpenNetworks {
  networks: Networks
  bluesky: BlueskyNetwork
  sandbox: Sandbox
  egress: Egress
  /** Hosts that the operator lets agents read unasked. */
  fetchAllow: readonly string[]
}

export const openNetworks = (
  { config, options, log, failpoints, overrides: { resolve }, stack }: StartupContext,
  sealer: Sealer,
): OpenNetworks => {
  const { sandboxRules: rules, sandboxTier: tier, sandboxCounts: counts, sandboxFaults } = config
  const store = stack.use(openSandboxStore(options))
  const sandbox = createSandbox({
    store,
    faults: parseFaults(sandboxFaults),
    rules,
    tier,
    counts,
    log,
    failpoints,
  })
  const egress = egressOf(config, { log, resolve })
  const bluesky = blueskyNetwork({ ...config.bluesky, egress, sealer, log })
  const { fetchAllow } = config
  return { networks: networksOf(sandbox, bluesky), sandbox, bluesky, egress, fetchAllow }
}
