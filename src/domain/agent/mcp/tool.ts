/** A tool of an MCP server as it was when last listed, and what people have decided about it. */
import { mcpToolRecord } from '#contract/records/agent/mcp-tool'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { newId } from '#kernel/ids'
import { argumentsHash } from '../hash.ts'
import type { RuleDecision } from '../job/verdict.ts'
import { type ComparisonRoom, type DiffPart, roomToCompare, wordDiff } from '../word-diff.ts'
import type { ForeignTool } from './foreign-tools.ts'
import { type McpServer, placeHash } from './server.ts'

export type McpTool = RowOf<typeof mcpToolRecord>

/** The definition that a person had read when they set the rule. */
type RuledDefinition = Pick<McpTool, 'description' | 'parameters'>

/** The tool with the workspace's rule for its name. */
export interface RuledTool extends McpTool {
  decision: RuleDecision | null
  definition_hash: string | null
  definition: RuledDefinition | null
}

export const ruledDefinition = ({ description, parameters }: RuledDefinition): RuledDefinition => ({
  description,
  parameters,
})

interface Found {
  tools: readonly ForeignTool[]
  before: readonly McpTool[]
  now: Date
}

/** The tools of a server after listing them. Those that have not changed stay as they are. */
export const toolsFound = (server: McpServer, { tools, before, now }: Found): McpTool[] => {
  const known = new Map(before.map((tool) => [tool.name, tool]))
  const place = placeHash(server)
  return tools.map(
    ({
      name: own_name,
      offered: name,
      title,
      description,
      parameters,
      readOnly: read_only_hint,
      hash: definition,
    }) => {
      const old = known.get(name)
      const hash = argumentsHash({ place, definition })
      if (old?.hash === hash && old.read_only_hint === read_only_hint && old.title === title)
        return old
      const said = { own_name, title, description, parameters, read_only_hint, hash }
      return {
        id: old?.id ?? newId(),
        server_id: server.id,
        name,
        ...said,
        created_at: old?.created_at ?? now,
        updated_at: now,
      }
    },
  )
}

type McpToolState = 'new' | 'ruled' | 'changed'

const stateOf = ({ decision, definition_hash, hash }: RuledTool): McpToolState => {
  if (decision === null) return 'new'
  return definition_hash === null || definition_hash === hash ? 'ruled' : 'changed'
}

/** Without room to compare, both texts are shown whole. */
const partsOf = (before: string, after: string, room: ComparisonRoom): DiffPart[] =>
  wordDiff(before, after, room) ?? [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ]

const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

/**
 * What has changed, as a person can read it. If nothing is listed, the change is in parts that
 * neither models nor people are shown.
 */
const changesOf = (before: RuledDefinition | null, now: RuledDefinition, room: ComparisonRoom) => {
  if (!before) return []
  const texts = [
    { field: 'description', old: before.description, text: now.description },
    { field: 'parameters', old: pretty(before.parameters), text: pretty(now.parameters) },
  ] as const
  return texts.flatMap(({ field, old, text }) =>
    old === text ? [] : { field, parts: partsOf(old, text, room) },
  )
}

const view = viewOf(mcpToolRecord)

/** As people see them. */
export const mcpToolViews = (tools: readonly RuledTool[]) => {
  const room = roomToCompare()
  return tools.map((tool) => {
    const state = stateOf(tool)
    const changes = state === 'changed' ? changesOf(tool.definition, tool, room) : []
    return { ...view(tool), state, rule: tool.decision, changes }
  })
}

/**
 * The most tools of servers for which a workspace can have rules, and so the most that a job is
 * offered.
 */
export const MOST_SERVED_TOOLS = 200

/** A tool that a rule lets the agent call, with its server. */
export interface ServedTool
  extends Pick<McpTool, 'name' | 'own_name' | 'description' | 'parameters' | 'hash' | 'server_id'> {
  server_name: string
  /** Where the server is. */
  place: Pick<McpServer, 'transport' | 'url' | 'command' | 'args'>
}
