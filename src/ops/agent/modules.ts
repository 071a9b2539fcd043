import { type ModuleName, moduleNames, type modules } from '#contract/agent/modules'
import { found } from '#kernel/errors'
import { moduleSettings, putModule } from '#store/agent/modules'
import { loadBy } from '#store/engine/load'
import { personOf } from '#store/engine/principal'
import type { Handlers } from '../engine/call.ts'

const requireModule = (name: string): ModuleName =>
  found(
    moduleNames.find((one) => one === name),
    'no such module',
  )

export const moduleHandlers: Handlers<typeof modules> = {
  async list(_, { read }) {
    const { settings } = await loadBy(read, { settings: moduleSettings })
    const byName = new Map(settings.map((setting) => [setting.name, setting]))
    return {
      modules: moduleNames.map(
        (name) => byName.get(name) ?? { name, mcp: false, updated_at: null },
      ),
    }
  },

  async set({ name, mcp }, { gate, principal }) {
    const module = { name: requireModule(name), mcp, updated_at: gate.now }
    const writes = [putModule({ ...module, set_by: personOf(principal) })]
    return { reply: { module }, effects: { writes }, auditDetail: { module: name, mcp } }
  },
}
