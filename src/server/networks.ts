/** The networks on which accounts post, and HTTP to addresses that workspaces chose. */
import type { Sealer } from '#kernel/sealer'
import type { Egress } from '#port/egress/egress'
import { isOwnKey, type OwnKey } from '#port/network/bluesky/credentials'
import { type BlueskyNetwork, blueskyNetwork } from '#port/network/bluesky/network'
import { createOauthClient } from '#port/network/bluesky/oauth/client'
import { newOwnKey } from '#port/network/bluesky/oauth/dpop'
import { type Networks, networksOf } from '#port/network/registry'
import { parseFaults } from '#port/network/sandbox/faults'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { createSandbox, type Sandbox } from '#port/network/sandbox/sandbox'
import type { Db } from '#store/engine/db'
import { deploymentSecret } from '#store/secret/deployment-secrets'
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

/** The key by which networks know this deployment. Read, or made, when it is first needed. */
const clientKeyOf = (parts: { db: Db; sealer: Sealer }): (() => Promise<OwnKey>) => {
  let known: OwnKey | undefined
  return async () => {
    if (known) return known
    const make = async () => JSON.stringify(await newOwnKey())
    const key: unknown = JSON.parse(await deploymentSecret(parts, 'bluesky client', make))
    if (!isOwnKey(key)) throw new Error('what was sealed is no key')
    known = key
    return key
  }
}

export const openNetworks = (
  { config, options, log, failpoints, overrides: { resolve }, stack }: StartupContext,
  { db, sealer }: { db: Db; sealer: Sealer },
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
  const client = createOauthClient({
    publicUrl: config.publicUrl,
    key: clientKeyOf({ db, sealer }),
  })
  const bluesky = blueskyNetwork({ ...config.bluesky, egress, sealer, client, log })
  const { fetchAllow } = config
  return { networks: networksOf(sandbox, bluesky), sandbox, bluesky, egress, fetchAllow }
}
