/** Which calls that wait for a decision somebody sees. */
import type { ToolBox } from '#decisions/agent/toolbox'
import type { ApprovalReader } from '#store/agent/approvals'
import { type Principal, partyOf } from '#store/engine/principal'
import { mayRunTool } from './standing.ts'

/**
 * A person's key cannot decide, but it sees the calls of private conversations that the person may
 * decide.
 */
export const approvalReader = (tools: ToolBox, principal: Principal): ApprovalReader => {
  if (!principal.member) return { ...partyOf(principal), tools: [], allBut: false }
  const may = (name: string) => mayRunTool(tools, name, principal)
  // A name that is no operation belongs to a tool of an MCP server.
  const allBut = may('')
  const names = [...tools.tools.keys()].filter((name) => may(name) !== allBut)
  return { ...partyOf(principal), tools: names, allBut }
}
