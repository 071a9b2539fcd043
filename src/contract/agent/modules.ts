import { Type as T } from '@sinclair/typebox'
import { use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { nullable, record, Time } from '../shapes.ts'

/**
 * Groups of tools beyond those of the API document. MCP lists them once a workspace has asked for
 * them.
 */
export const moduleNames = ['agent'] as const
export type ModuleName = (typeof moduleNames)[number]

const Module = record(
  {
    name: T.String(),
    mcp: T.Boolean({ description: 'Whether its tools are listed over MCP without ?toolsets.' }),
    updated_at: nullable(Time),
  },
  { title: 'AgentModule' },
)

export const modules = {
  list: op.query(
    'GET /api/v1/agent/modules',
    'List the modules of tools that can be offered over MCP too.',
    { input: {}, output: record({ modules: T.Array(Module) }) },
    use,
  ),
  set: op.command(
    'PUT /api/v1/agent/modules/:name',
    'Decide whether the tools of a module are listed over MCP. Requires a signed-in person.',
    {
      input: {
        name: T.String({ format: 'tool-name', description: 'The name of a module: agent.' }),
        mcp: T.Boolean(),
      },
      output: record({ module: Module }),
    },
    { scope: 'session', roles: ['approver'], errors: ['not_found'], repeatable: true },
  ),
}
