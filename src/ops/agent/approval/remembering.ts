/** What a person decides about future calls while deciding one. */
import type { Tool, ToolBox } from '#decisions/agent/toolbox'
import { definitionHash } from '#domain/agent/hash'
import type { Approval } from '#domain/agent/job/approval'
import { hostRuleOf, MOST_HOSTS } from '#domain/agent/job/fetching'
import type { ServedTool } from '#domain/agent/mcp/tool'
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { putToolRule } from '#store/agent/rules'
import type { Effects } from '#store/engine/letter'
import { personOf, roleOf } from '#store/engine/principal'
import type { CommandContext } from '../../engine/call.ts'
import { servedRule } from '../toolbox/served-rules.ts'

/**
 * The rule, and what it is bound to: for an outside write, the tool's present definition. Throws
 * `invalid_input`.
 */
const ruleOf = (
  tool: Tool,
  { arguments: args }: Approval,
): { tool_name: string; definition_hash: string | null } => {
  if (tool.class === 'outside_read')
    return { tool_name: hostRuleOf(String(args.url)), definition_hash: null }
  if (tool.class === 'outside_write')
    return { tool_name: tool.name, definition_hash: tool.hash ?? definitionHash(tool) }
  const message =
    'is only for tools that write outside of the workspace, and for hosts of fetch_url'
  return fail('invalid_input', `remember ${message}`, { details: [{ path: 'remember', message }] })
}

interface Remembered {
  approval: Approval
  /** How many hosts are already allowed. */
  hosts: number
  /** The tool, if it belongs to an MCP server. */
  served: ServedTool | undefined
}

/**
 * Allows calls like the approved one from now on. Throws `invalid_input`, `forbidden` or
 * `conflict`.
 */
export const rememberedRule = (
  tools: ToolBox,
  { approval, hosts, served }: Remembered,
  { gate, principal }: CommandContext,
): Effects => {
  const tool =
    tools.tools.get(approval.tool_name) ??
    fail('conflict', 'cannot remember: the tool has changed since it was shown', {
      reason: 'stale_record',
    })
  const rule = ruleOf(tool, approval)
  const role = roleOf(principal)
  if (role !== 'owner' && role !== 'approver')
    fail('forbidden', `the role ${role} cannot set rules; approve without remember`)
  if (hosts >= MOST_HOSTS)
    fail(
      'conflict',
      `cannot remember: ${MOST_HOSTS} hosts are allowed already; remove the rule of one first`,
      { reason: 'limit_reached' },
    )
  const set = {
    ...rule,
    id: newId(),
    decision: 'allow',
    set_by: personOf(principal),
    now: gate.now,
  } as const
  return served ? servedRule(set, served) : { writes: [putToolRule(set)] }
}
