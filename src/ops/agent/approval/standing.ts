/** What somebody may do about a call that waits for a decision, and who can decide it. */
import type { ToolBox } from '#decisions/agent/toolbox'
import type { Approval } from '#domain/agent/job/approval'
import { type Decider, type Deciders, decidersOf } from '#kernel/deciders'
import type { Principal } from '#store/engine/principal'
import { mayRun } from '../../engine/access.ts'
import { SERVED } from '../toolbox/served-tools.ts'
import { principalAsCaller } from '../tools.ts'

/**
 * Whether a caller could call the tool. A name that is no operation is treated as a tool of an MCP
 * server, whether or not it still exists.
 */
export const mayRunTool = (tools: ToolBox, name: string, principal: Principal): boolean => {
  const caller = principalAsCaller(principal)
  return tools.tools.has(name) ? tools.mayRun(name, caller) : mayRun(SERVED, caller)
}

export interface DecidingReader {
  principal: Principal
  /** The members of the workspace. */
  members: readonly Decider[]
}

/** Only a person decides, never a key. */
export const mayDecide = (tools: ToolBox, name: string, principal: Principal): boolean =>
  principal.kind === 'session' && mayRunTool(tools, name, principal)

export const standing = (
  tools: ToolBox,
  { tool_name: name }: Pick<Approval, 'tool_name'>,
  { principal, members }: DecidingReader,
): { deciders: Deciders; mayDecide: boolean } => ({
  deciders: decidersOf(tools.roles(name), members),
  mayDecide: mayDecide(tools, name, principal),
})
