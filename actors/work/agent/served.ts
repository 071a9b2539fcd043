/** The tools of the workspace's MCP servers, read for the letter that needs them. */
import type { ToolBox } from '#decisions/agent/toolbox'
import type { Job } from '#domain/agent/job/job'
import { jobLimits } from '#domain/agent/job/limits'
import type { ServedTool } from '#domain/agent/mcp/tool'
import {
  failingMcpServers,
  isServerBusy,
  offeredMcpTools,
  servedTools,
} from '#store/agent/mcp-tools'
import { loadNow, mapPart, when } from '#store/engine/load'
import type { At } from './at.ts'
import type { AgentDeps } from './deps.ts'

export const withTools = (deps: AgentDeps, served: readonly ServedTool[]): AgentDeps => {
  if (served.length === 0) return deps
  const box = deps.toolBox().and(served)
  return { ...deps, toolBox: () => box }
}

/** Adds the tools with these names that the agent may call in their present form. */
export const withServed = async (
  deps: AgentDeps,
  { sql }: Pick<At, 'sql'>,
  names: readonly string[],
): Promise<AgentDeps> => {
  const { tools } = deps.toolBox()
  const others = names.filter((name) => !tools.has(name)).slice(0, jobLimits.calls)
  if (others.length === 0) return deps
  return withTools(deps, (await loadNow(sql, { served: servedTools(others) })).served)
}

/**
 * The server tools that a thought is offered: whole where the job has asked for them. A task has no
 * tools.
 */
export const servedParts = ({ task, tools, shown }: Pick<Job, 'task' | 'tools' | 'shown'>) => ({
  served: mapPart(when(!task, offeredMcpTools(tools ?? shown)), (served) => served ?? []),
  failing: mapPart(when(!task, failingMcpServers), (failing) => failing ?? []),
})

/** Adds the tools that a run was begun with. */
export const within = (deps: AgentDeps, run: { kind: string; box?: ToolBox }): AgentDeps => {
  const { box } = run
  return box ? { ...deps, toolBox: () => box } : deps
}

/** No call lasts longer than this. */
const LONGEST_CALL_MS = 180_000

/**
 * Whether another call of the same server is running. A server gets one call at a time, and jobs
 * that wait for it take no place.
 */
export const waitsForServer = async (
  deps: AgentDeps,
  { sql, gate }: At,
  name: string,
): Promise<boolean> => {
  const server = deps.toolBox().tools.get(name)?.server
  if (server === undefined) return false
  const since = new Date(gate.now.getTime() - LONGEST_CALL_MS)
  return (await loadNow(sql, { is: isServerBusy(server, since) })).is.busy
}
