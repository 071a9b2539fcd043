/** Tools of the workspace's MCP servers, which are read for the letter that needs them. */
import type { Tool, ToolBox } from '#decisions/agent/toolbox'
import type { Job } from '#domain/agent/job/job'
import { MOST_CALLS } from '#domain/agent/job/limits'
import type { Step } from '#domain/agent/job/step'
import type { ServedTool } from '#domain/agent/mcp/tool'
import { useMcpServer } from '#store/agent/mcp-servers'
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

/** With those of these names that the agent may call as they are now. */
export const withServed = async (
  deps: AgentDeps,
  { sql }: Pick<At, 'sql'>,
  names: readonly string[],
): Promise<AgentDeps> => {
  const { tools } = deps.toolBox()
  const others = names.filter((name) => !tools.has(name)).slice(0, MOST_CALLS)
  if (others.length === 0) return deps
  return withTools(deps, (await loadNow(sql, { served: servedTools(others) })).served)
}

/** What a thought is offered of them: whole where the job has asked for it. A task has no tools. */
export const servedParts = ({ task, tools, shown }: Pick<Job, 'task' | 'tools' | 'shown'>) => ({
  served: mapPart(when(!task, offeredMcpTools(tools ?? shown)), (served) => served ?? []),
  failing: mapPart(when(!task, failingMcpServers), (failing) => failing ?? []),
})

/** Descriptions are text of people outside, though a person has read them. */
export const taintByWords = (changes: At['changes'], defined: readonly Tool[]): void => {
  changes.taint(defined.flatMap(({ describedBy }) => describedBy ?? []))
}

/** With the tools that a run was begun with. */
export const within = (deps: AgentDeps, run: { kind: string; box?: ToolBox }): AgentDeps => {
  const { box } = run
  return box ? { ...deps, toolBox: () => box } : deps
}

/** A call cannot last longer. */
const LONGEST_CALL_MS = 180_000

/**
 * Whether another call of the same server runs: it gets one at a time, and jobs that wait for it
 * take no place.
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

/** What has left the workspace is in its audit. */
export const auditCall = (
  { changes }: Pick<At, 'changes'>,
  tool: Tool | undefined,
  step: Pick<Step, 'name' | 'number'>,
  outcome: string,
): void => {
  if (tool?.server === undefined) return
  const { id, on_behalf } = changes.job
  const detail = {
    tool: step.name,
    outcome,
    job: id,
    step: step.number,
    on_behalf: { kind: on_behalf.kind, id: on_behalf.personId ?? on_behalf.id },
  }
  const audit = {
    operation: CALL,
    refId: tool.server,
    detail,
    by: { kind: 'agent', id, surface: 'agent' },
  }
  changes.also({ audit, writes: [useMcpServer(tool.server, changes.now)] })
}
const CALL = 'agent.mcpServers.call'
