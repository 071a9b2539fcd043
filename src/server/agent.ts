/** The parts of the agent: what its lane needs, some of which exists only once the operations do. */
import { type AgentDeps, THINK_MS } from '#actors/work/agent/deps'
import type { Config } from '#config/config'
import type { PriceOf } from '#domain/agent/job/budget'
import type { Log } from '#kernel/log'
import { LocalBus } from '#ops/agent/job/bus'
import type { World } from '#ops/engine/call'
import { createDesk } from '#port/model/desk/desk'
import { costOf } from '#port/model/openai/prices'
import { createOpenAiThinker } from '#port/model/openai/thinker'
import type { Thinker } from '#port/model/thinker'
import type { Db } from '#store/engine/db'
import { parseDeskLine } from './desk-commands.ts'
import { nearestCommands } from './desk-suggestions.ts'

type Deps = Omit<AgentDeps, 'failpoints' | 'modelCalls'>

export interface Agent {
  deps: Deps
  bus: LocalBus
  /** To be called once, before anything is claimed. */
  begin(world: World): void
}

const desk = createDesk({ parse: parseDeskLine, nearest: nearestCommands })

const thinkerOf = (openai: Config['openai'], log: Log): Thinker | undefined =>
  openai && createOpenAiThinker({ ...openai, timeoutMs: THINK_MS, silenceMs: SILENCE_MS, log })

/** Of a model that a test provides, in tokens. */
const USUAL_CONTEXT = 128_000
const TOOL_MS = 60_000
/** How long a model may pause once it has begun to answer. */
const SILENCE_MS = 30_000

interface AgentParts {
  db: Db
  log: Log
  openai: Config['openai']
  publicUrl: string
  thinker?: Thinker | undefined
  toolMs?: number | undefined
}

/** Throws if a lane runs before `begin`. */
export const agentOf = ({ db, log, openai, publicUrl, thinker = thinkerOf(openai, log), toolMs = TOOL_MS }: AgentParts): Agent => {
  let world: World | undefined
  const bus = new LocalBus()
  const begun = () => world ?? raise()
  const toolBox = () => begun().tools
  const models = () => begun().models
  const ask: Deps['ask'] = (tenantId, letter) => begun().ask(tenantId, letter)
  const priceOf = (model: string) => (of: Parameters<PriceOf>[0]) =>
    costOf(model, { input_tokens: of.input, cached_tokens: of.cached ?? 0, output_tokens: of.output }, openai?.prices)
  const contextTokens = openai?.context ?? USUAL_CONTEXT
  const deps: Deps = { toolBox, models, thinker, desk, priceOf, contextTokens, db, ask, bus, log, publicUrl, toolMs }
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
