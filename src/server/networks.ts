/** The networks on which accounts post, and HTTP to addresses that workspaces chose. */
import type { Egress } from '#port/egress/egress'
import { type Networks, networksOf } from '#port/network/registry'
import { parseFaults } from '#port/network/sandbox/faults'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { createSandbox, type Sandbox } from '#port/network/sandbox/sandbox'
import { egressOf } from './egress.ts'
import type { StartupContext } from './opening.ts'

interface OpenNetworks {
  networks: Networks
  sandbox: Sandbox
  egress: Egress
}

export const openNetworks = ({
  config,
  options,
  log,
  failpoints,
  stack,
}: StartupContext): OpenNetworks => {
  const { sandboxRules: rules, sandboxTier: tier, sandboxFaults } = config
  const store = stack.use(openSandboxStore(options))
  const sandbox = createSandbox({
    store,
    faults: parseFaults(sandboxFaults),
    rules,
    tier,
    log,
    failpoints,
  })
  return { networks: networksOf(sandbox), sandbox, egress: egressOf(config, log) }
}
