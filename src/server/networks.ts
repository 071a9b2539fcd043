/** The networks where accounts post. */
import { type Networks, networksOf } from '#port/network/registry'
import { parseFaults } from '#port/network/sandbox/faults'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { createSandbox, type Sandbox } from '#port/network/sandbox/sandbox'
import type { Opening } from './opening.ts'

export const openNetworks = ({ config, options, log, failpoints, stack }: Opening): { networks: Networks; sandbox: Sandbox } => {
  const { sandboxRules: rules, sandboxTier: tier, sandboxFaults } = config
  const store = stack.use(openSandboxStore(options))
  const sandbox = createSandbox({ store, faults: parseFaults(sandboxFaults), rules, tier, log, failpoints })
  return { networks: networksOf(sandbox), sandbox }
}
