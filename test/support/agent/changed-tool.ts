/** A tool of an MCP server whose definition has changed since somebody set its rule. */
import { mcpServerRecord } from '#contract/records/agent/mcp-server'
import { mcpToolRecord } from '#contract/records/agent/mcp-tool'
import { newId } from '#kernel/ids'
import type { TestApp } from '../app.ts'
import { sampleOf } from '../database/sample.ts'

const JSON_COLUMNS = ['parameters', 'args', 'definition']

const insertRow = async ({ owner }: TestApp, table: string, row: object): Promise<void> => {
  const values = Object.entries(row).map(([name, value]) => [
    name,
    JSON_COLUMNS.includes(name) ? owner.json(value as never) : value,
  ])
  await owner`insert into ${owner(table)} ${owner(Object.fromEntries(values))}`
}

interface ChangedTool {
  /** The name of the server. */
  server: string
  name: string
  description: string
  /** What the rule is for. */
  before: string
}

const GATE = { type: 'object', properties: { gate: { type: 'string' } } }

/** The rule allows the former definition. Returns the tool's id. */
export const changeTool = async (
  app: TestApp,
  tenantId: string,
  { server: serverName, name, description, before }: ChangedTool,
): Promise<string> => {
  const [serverId, id, now] = [newId(), newId(), new Date()]
  const server = sampleOf(mcpServerRecord, 'port', {
    id: serverId,
    name: serverName,
    tool_prefix: 'port',
    enabled: true,
    args: [],
  })
  const tool = sampleOf(mcpToolRecord, 'port', {
    id,
    server_id: serverId,
    name,
    description,
    parameters: { ...GATE, required: ['gate'] },
    hash: 'b'.repeat(64),
  })
  await insertRow(app, 'mcp_server', { ...server, tenant_id: tenantId })
  await insertRow(app, 'mcp_tool', { ...tool, tenant_id: tenantId })
  await insertRow(app, 'agent_tool_rule', {
    id: newId(),
    tenant_id: tenantId,
    tool_name: name,
    decision: 'allow',
    definition_hash: 'a'.repeat(64),
    definition: { description: before, parameters: GATE },
    set_by: newId(),
    server_id: serverId,
    created_at: now,
    updated_at: now,
  })
  return id
}
