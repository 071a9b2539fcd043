/** The parts of the agent: what its lanes need, and what it uses outside. */
import type { AgentDeps } from '#actors/work/agent/deps'
import type { Config } from '#config/config'
import type { PriceOf } from '#domain/agent/job/budget'
import type { Sealer } from '#kernel/sealer'
import type { World } from '#ops/engine/call'
import { countingAdapters } from '#port/channel/counting'
import { discreetAdapters } from '#port/channel/discreet'
import { type ChannelAdapters, channelAdapters } from '#port/channel/registry'
import { tracingAdapters } from '#port/channel/tracing'
import type { Egress } from '#port/egress/egress'
import { createDesk } from '#port/model/desk/desk'
import { callCost } from '#port/model/openai/prices'
import { parseDeskLine } from './desk-commands.ts'
import { nearestCommands } from './desk-suggestions.ts'
import { mcpSessionsOf } from './mcp-sessions.ts'
import type { StartupContext } from './opening.ts'

export const desk = createDesk({ parse: parseDeskLine, nearest: nearestCommands })

interface Outside {
  mcp: ReturnType<typeof mcpSessionsOf>
  channels: ChannelAdapters
}

/** The MCP servers that the agent uses, and the channels by which people outside reach it. */
export const outsideOf = (
  { config, log, meters, tracer, overrides }: StartupContext,
  { egress, sealer }: { egress: Egress; sealer: Sealer },
): Outside => {
  const usual = channelAdapters({ egress, urls: config.channelUrls })
  const discreet = discreetAdapters(overrides.channels?.(usual) ?? usual)
  const adapters = tracer ? tracingAdapters(discreet, tracer) : discreet
  return {
    mcp: mcpSessionsOf(config, { egress, sealer, log, client: overrides.mcpClient }),
    channels: meters ? countingAdapters(adapters, meters.replied) : adapters,
  }
}

/** The context of a model that a test provides, in tokens. */
const USUAL_CONTEXT = 128_000
const TOOL_MS = 60_000

type Deps = Omit<AgentDeps, 'failpoints' | 'modelCalls'>

interface AgentParts extends Pick<Deps, 'db' | 'log' | 'bus' | 'publicUrl'> {
  world: Pick<World, 'tools' | 'models' | 'ask'>
  openai: Config['openai']
  thinker?: Deps['thinker']
  toolMs?: number | undefined
}

export const agentOf = ({
  world,
  openai,
  thinker,
  toolMs = TOOL_MS,
  ...more
}: AgentParts): Deps => {
  const priceOf = (model: string) => (of: Parameters<PriceOf>[0]) =>
    callCost(
      model,
      { input_tokens: of.input, cached_tokens: of.cached ?? 0, output_tokens: of.output },
      openai?.prices,
    )
  return {
    ...more,
    toolBox: () => world.tools,
    models: () => world.models,
    ask: world.ask,
    thinker,
    desk,
    priceOf,
    contextTokens: openai?.context ?? USUAL_CONTEXT,
    toolMs,
  }
}
