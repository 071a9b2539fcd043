/**
 * Rules for tools of MCP servers. A rule is bound to the definition that a person read, and ends
 * with the server.
 */
import { newWork } from '#decisions/work'
import type { RuleDecision } from '#domain/agent/job/verdict'
import { USED_LOOK_MS } from '#domain/agent/mcp/server'
import { ruledDefinition, type ServedTool } from '#domain/agent/mcp/tool'
import { fail } from '#kernel/errors'
import { useMcpServer } from '#store/agent/mcp-servers'
import { type NewRule, putToolRule } from '#store/agent/rules'
import type { Effects } from '#store/engine/letter'

interface Wish {
  decision: RuleDecision
  /** The hash of the definition that the person read. */
  hash: string | undefined
  /** How many more rules can be set. */
  room: number
}

/** Throws `invalid_input` or `conflict`. A tool that is forbidden need not be read first. */
export const requireRead = (
  tool: Pick<ServedTool, 'hash'>,
  { decision, hash, room }: Wish,
): void => {
  if (room <= 0)
    fail('conflict', 'cannot set: too many tools of MCP servers have rules; remove some first', {
      reason: 'limit_reached',
    })
  if (decision === 'deny') return
  const message = 'is missing: give the hash of the definition that you have read'
  if (hash === undefined)
    fail('invalid_input', `hash ${message}`, { details: [{ path: 'hash', message }] })
  if (hash !== tool.hash)
    fail('conflict', 'cannot set: the tool is not as you have read it; read it again', {
      reason: 'stale_record',
    })
}

/**
 * The rule for the tool in its present form. From now on its server's tools are listed regularly.
 */
export const servedRule = (
  rule: NewRule,
  tool: Pick<ServedTool, 'server_id' | 'hash' | 'description' | 'parameters'>,
): Effects => {
  const { server_id, hash } = tool
  const bound = {
    definition_hash: rule.decision === 'deny' ? null : hash,
    server_id,
    definition: ruledDefinition(tool),
  }
  const runAt = new Date(rule.now.getTime() + USED_LOOK_MS)
  return {
    writes: [putToolRule({ ...rule, ...bound }), useMcpServer(server_id, rule.now)],
    work: [newWork('mcp_look', { refId: server_id, origin: 'automatic', runAt })],
  }
}
