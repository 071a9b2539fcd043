/**
 * An MCP server that a workspace has connected: where it is, and whether it can be called. Its
 * tools are in tool.ts.
 */
import { mcpServerRecord } from '#contract/records/agent/mcp-server'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { fail, refuseField } from '#kernel/errors'
import { argumentsHash } from '../hash.ts'
import {
  type ConfigRules,
  type McpServerConfig,
  refusalOfPlace,
  requireSound,
  type Secrets,
  transportFields,
  transportOf,
} from './config.ts'
import { freePrefix, requireFreePrefix } from './prefix.ts'

export type McpServer = RowOf<typeof mcpServerRecord>

const MOST_MCP_SERVERS = 20

/** `headers` and `env` are set if their values changed. */
export interface Configured {
  server: McpServer
  headers?: Secrets | undefined
  env?: Secrets | undefined
}

interface Surroundings {
  /** All servers of the workspace. */
  others: readonly Pick<McpServer, 'id' | 'tool_prefix'>[]
  rules: ConfigRules
  now: Date
}

/**
 * Sets the status: `new` before the server is first asked. A server that may not be asked is
 * disabled.
 */
const judgeServer = (server: McpServer, rules: ConfigRules): McpServer => {
  const refusal = refusalOfPlace(server, rules)
  return refusal === null
    ? { ...server, status: 'new', last_error: null, failures: 0 }
    : { ...server, enabled: false, status: 'refused', last_error: refusal, failures: 0 }
}

/** Throws `invalid_input`. */
export const newMcpServer = (
  id: string,
  config: McpServerConfig,
  { others, rules, now }: Surroundings,
): Configured => {
  requireSound(config)
  if (others.length >= MOST_MCP_SERVERS)
    fail(
      'invalid_input',
      `cannot add: the workspace has ${others.length} MCP servers; delete one first`,
    )
  const { name, toolPrefix, enabled = true, metadata = {} } = config
  const { headers, env, ...place } = transportFields(transportOf(config), config)
  const prefixes = others.map(({ tool_prefix }) => tool_prefix)
  if (toolPrefix !== undefined) requireFreePrefix(toolPrefix, prefixes)
  const server: McpServer = {
    ...mcpServerRecord.blank,
    ...place,
    id,
    name: name.trim(),
    enabled,
    metadata,
    header_names: Object.keys(headers),
    env_names: Object.keys(env),
    tool_prefix: toolPrefix ?? freePrefix(name, prefixes),
    status: 'new',
    failures: 0,
    created_at: now,
    updated_at: now,
  }
  return { server: judgeServer(server, rules), headers, env }
}

export type McpServerPatch = Partial<McpServerConfig>

const originOf = (url: string | null): string | null =>
  url === null ? null : (URL.parse(url)?.origin ?? url)

/**
 * What a rule for one of its tools is bound to, besides the tool's definition. When it changes,
 * rules and approvals end, because they were given to another program.
 */
export const placeHash = ({
  id,
  transport,
  url,
  command,
  args,
}: Pick<McpServer, 'id' | 'transport' | 'url' | 'command' | 'args'>): string =>
  argumentsHash({ id, transport, origin: originOf(url), command, args })

/**
 * Secrets stay with the place for which they were given: after a change of origin or command, only
 * those that are given anew remain.
 */
const secretsFor = (before: McpServer, after: McpServer, { headers, env }: McpServerPatch) => {
  if (placeHash(before) !== placeHash(after))
    return transportFields(after.transport, { headers, env })
  return after.transport === 'stdio' ? { headers: undefined, env } : { headers, env: undefined }
}

/** Absent fields stay. Throws `invalid_input`. */
export const updateMcpServer = (
  before: McpServer,
  patch: McpServerPatch,
  { others, rules, now }: Surroundings,
): Configured & { isForgotten: boolean } => {
  requireSound(patch)
  const { name = before.name, toolPrefix = before.tool_prefix, metadata = before.metadata } = patch
  const prefixes = others.filter(({ id }) => id !== before.id).map(({ tool_prefix }) => tool_prefix)
  if (toolPrefix !== before.tool_prefix) requireFreePrefix(toolPrefix, prefixes)
  const { transport = transportOf(patch) ?? before.transport } = patch
  const {
    url = before.url ?? undefined,
    command = before.command ?? undefined,
    args = before.args,
  } = patch
  const { headers: _, env: __, ...place } = transportFields(transport, { url, command, args })
  const moved = {
    ...before,
    ...place,
    name: name.trim(),
    tool_prefix: toolPrefix,
    metadata,
    updated_at: now,
  }
  const { headers, env } = secretsFor(before, moved, patch)
  const named = {
    ...moved,
    header_names: headers ? Object.keys(headers) : before.header_names,
    env_names: env ? Object.keys(env) : before.env_names,
  }
  const enabled = patch.enabled ?? (before.status === 'refused' ? true : before.enabled)
  const isElsewhere = placeHash(before) !== placeHash(moved)
  const isAnew =
    isElsewhere ||
    moved.url !== before.url ||
    headers !== undefined ||
    env !== undefined ||
    before.status === 'refused' ||
    toolPrefix !== before.tool_prefix
  const server =
    isAnew || (enabled && !before.enabled)
      ? judgeServer({ ...named, enabled }, rules)
      : { ...named, enabled }
  if (patch.enabled === true && server.status === 'refused')
    refuseField('enabled', `cannot be true: ${server.last_error}`)
  // Its tools get other names, or belong to another program.
  return { server, headers, env, isForgotten: isElsewhere || toolPrefix !== before.tool_prefix }
}

const USED_FOR_MS = 7 * 86_400_000
/** How often to list the tools of a server that is in use. */
export const USED_LOOK_MS = 3_600_000
/** The pause before the next try, by the number of failures so far. */
const PAUSES_MS = [60_000, 300_000, 900_000]

const isUsed = ({ used_at }: McpServer, now: Date): boolean =>
  used_at !== null && now.getTime() - used_at.getTime() < USED_FOR_MS

/** When to list its tools again; undefined: only when somebody asks for it. */
export const nextLook = (server: McpServer, now: Date): Date | undefined => {
  if (!server.enabled) return undefined
  const pause = server.status === 'failing' ? PAUSES_MS[server.failures - 1] : undefined
  if (pause === undefined && !isUsed(server, now)) return undefined
  return new Date(now.getTime() + (pause ?? USED_LOOK_MS))
}

/** Its tools were listed. `left`: what to say about those that cannot be offered. */
export const lookedAt = (server: McpServer, left: string | null, now: Date): McpServer => ({
  ...server,
  status: 'ready',
  last_error: left,
  failures: 0,
  looked_at: now,
  updated_at: now,
})

export const lookFailed = (server: McpServer, error: string, now: Date): McpServer => ({
  ...server,
  status: 'failing',
  last_error: error,
  failures: server.failures + 1,
  updated_at: now,
})

/** Describes where the server runs: a program or an address. */
export const serverPlace = ({
  transport,
  url,
  command,
  args,
}: Pick<McpServer, 'transport' | 'url' | 'command' | 'args'>): string =>
  transport === 'stdio' ? [command ?? '', ...args].join(' ') : (originOf(url) ?? 'nowhere')

/** The address without the values in its query, which may be secrets. */
const shownUrl = (text: string | null): string | null => {
  const url = text === null ? null : URL.parse(text)
  if (!url || url.search === '') return text
  const names = [...new Set(url.searchParams.keys())].map((name) => `${encodeURIComponent(name)}=…`)
  return `${url.origin}${url.pathname}?${names.join('&')}`
}

const view = viewOf(mcpServerRecord)

/** As people see it: without the values of headers and variables. */
export const mcpServerView = (server: McpServer) => ({ ...view(server), url: shownUrl(server.url) })
