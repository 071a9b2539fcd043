/** The parts of the agent: what its lane needs, some of which exists only once the operations do. */
import type { AgentDeps } from '#actors/work/agent/deps'
import type { ToolBox } from '#decisions/agent/toolbox'
import { toolWording } from '#edge/mcp/wording'
import { LocalBus } from '#ops/agent/bus'
import type { World } from '#ops/call'
import { createToolBox } from '#ops/index'
import { ThinkError, type Thinker } from '#port/model/thinker'
import type { Db } from '#store/engine/db'

type Deps = Omit<AgentDeps, 'failpoints' | 'modelCalls'>

export interface Agent {
  deps: Deps
  bus: LocalBus
  /** To be called once, before anything is claimed. */
  begin(world: World): void
}

const noDesk: Thinker = {
  think() {
    throw new ThinkError('unsupported')
  },
}

interface AgentParts {
  db: Db
  thinker: Thinker | undefined
  tools?: ((box: ToolBox) => ToolBox) | undefined
}

/** Throws if a lane runs before `begin`. */
export const agentOf = ({ db, thinker, tools = (all) => all }: AgentParts): Agent => {
  let world: World | undefined
  let box: ToolBox | undefined
  const bus = new LocalBus()
  const begun = () => world ?? raise()
  const toolBox = () => {
    box ??= tools(createToolBox(begun(), toolWording))
    return box
  }
  const ask: Deps['ask'] = (tenantId, letter) => begun().ask(tenantId, letter)
  const deps: Deps = { toolBox, thinker, desk: noDesk, commands: async () => undefined, priceOf: () => () => null, db, ask, bus }
  return {
    deps,
    bus,
    begin(made) {
      world = made
    },
  }
}

const raise = (): never => {
  throw new Error('the agent has no operations yet')
}
