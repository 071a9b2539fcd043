import type { mcpServers } from '#contract/agent/mcp-servers'
import { type McpSessions, placeConfig } from '#decisions/agent/mcp-session'
import type { LiveLanes } from '#decisions/deciding'
import { newWork } from '#decisions/work'
import type { Place, Secrets, StdioProgram } from '#domain/agent/mcp/config'
import {
  type Configured,
  type McpServer,
  mcpServerView,
  newMcpServer,
  serverPlace,
  updateMcpServer,
} from '#domain/agent/mcp/server'
import { mcpToolViews } from '#domain/agent/mcp/tool'
import { fail, found } from '#kernel/errors'
import { isUuid, newId } from '#kernel/ids'
import { McpError } from '#port/mcp-client/client'
import {
  deleteMcpServer,
  insertMcpServer,
  listMcpServers,
  mcpPrefixes,
  mcpSecretRow,
  mcpServerPart,
  type SealedSecrets,
  saveMcpServer,
} from '#store/agent/mcp-servers'
import { deleteMcpTools, deleteRulesOfServer, ruledToolsOf } from '#store/agent/mcp-tools'
import { type CallInFlight, callsInFlight } from '#store/agent/steps'
import { type Effects, merge } from '#store/engine/letter'
import { loadBy, when } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

export type McpServerParts = McpSessions & { programs: readonly StdioProgram[] }

const requireMcpServer = (server: McpServer | undefined): McpServer =>
  found(server, 'no such MCP server')

const loadServer = ({ id }: { id: string }) => ({ before: mcpServerPart(id) })

const rulesOf = ({ client, programs }: McpServerParts) => ({
  programs,
  refuse(place: Place): string | undefined {
    try {
      client.check(placeConfig(place))
      return undefined
    } catch (cause) {
      if (cause instanceof McpError) return cause.message
      throw cause
    }
  },
})

/** The sealed values, if they change. */
const sealedOf = (
  { sealer }: McpServerParts,
  { server, headers, env }: Configured,
): SealedSecrets => {
  const sealed = (values: Secrets, column: 'headers' | 'env') =>
    Object.keys(values).length === 0
      ? null
      : sealer.seal(JSON.stringify(values), mcpSecretRow(server.id, column))
  return {
    ...(headers && { headers: sealed(headers, 'headers') }),
    ...(env && { env: sealed(env, 'env') }),
  }
}

const loadKnown = (id: string) => ({
  before: when(isId(id), mcpServerPart(id)),
  look: when(isId(id), workFor('mcp_look', id)),
  tools: when(isId(id), ruledToolsOf(id)),
})

const isId = (id: string): boolean => isUuid(id.toLowerCase())

const lookOf = ({ id }: { id: string }) => ({ look: workFor('mcp_look', id) })

/**
 * Lists its tools now, because a person wants it. A listing that is already running has only just
 * begun.
 */
const lookNow = ({ id, enabled }: McpServer, look: Work | undefined, now: Date): Effects => {
  if (!enabled || look?.state === 'running') return {}
  if (look) return { requeued: [{ id: look.id, runAt: now, origin: 'manual' }] }
  return { work: [newWork('mcp_look', { refId: id, origin: 'manual', runAt: now })] }
}

/** What the audit keeps: what runs where, never values. */
const traceOf = (server: McpServer) => ({
  name: server.name,
  place: serverPlace(server),
  enabled: server.enabled,
  status: server.status,
})

type Other = Pick<McpServer, 'id' | 'tool_prefix'>

const surroundings = (parts: McpServerParts, others: readonly Other[], now: Date) => ({
  others,
  rules: rulesOf(parts),
  now,
})

/**
 * Calls of its tools that are on the wire. A call that was only written down is not made any more.
 */
const onTheWire = (
  lanes: LiveLanes,
  { tools, calls }: { tools: readonly { name: string }[]; calls: readonly CallInFlight[] },
) => {
  const names = new Set(tools.map(({ name }) => name))
  const running = calls.filter(({ tool }) => names.has(tool))
  const stopped = new Set(
    lanes
      .recall(
        ({ kind, ref_id }) => kind === 'agent' && running.some(({ job_id }) => job_id === ref_id),
      )
      .map(({ ref_id }) => ref_id),
  )
  return running.filter(({ job_id }) => !stopped.has(job_id))
}

type All = Handlers<typeof mcpServers>

const changing = (parts: McpServerParts): Pick<All, 'create' | 'update'> => ({
  create: loading(
    () => ({ others: mcpPrefixes }),
    (config, { gate: { now } }, { others }) => {
      const made = newMcpServer(newId(), config, surroundings(parts, others, now))
      const { server } = made
      const effects = merge(
        { writes: [insertMcpServer(server, sealedOf(parts, made))] },
        lookNow(server, undefined, now),
      )
      return {
        reply: { server: mcpServerView(server) },
        effects,
        refId: server.id,
        auditDetail: traceOf(server),
      }
    },
  ),

  update: loading(
    (input) => ({
      ...loadServer(input),
      ...lookOf(input),
      others: mcpPrefixes,
      tools: ruledToolsOf(input.id),
      calls: callsInFlight,
    }),
    ({ id, ...patch }, { gate: { now }, lanes }, { before, look, others, ...loaded }) => {
      const changed = updateMcpServer(
        requireMcpServer(before),
        patch,
        surroundings(parts, others, now),
      )
      const { server, isForgotten } = changed
      const forgotten = isForgotten ? [deleteMcpTools(id), deleteRulesOfServer(id)] : []
      const isDue = server.enabled && (server.status === 'new' || !requireMcpServer(before).enabled)
      const writes = [...forgotten, saveMcpServer(server, sealedOf(parts, changed))]
      const effects = merge({ writes }, isDue ? lookNow(server, look, now) : {})
      const in_flight = isForgotten || !server.enabled ? onTheWire(lanes, loaded) : []
      return {
        reply: { server: mcpServerView(server), in_flight },
        effects,
        auditDetail: { ...traceOf(server), rules_reset: isForgotten },
      }
    },
  ),
})

export const mcpServerHandlers = (parts: McpServerParts): All => ({
  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listMcpServers(page)), page.limit)
    return { servers: rows.map(mcpServerView), nextCursor: next_cursor }
  },

  async get({ id }, { read }) {
    const { before, tools } = await loadBy(read, {
      before: mcpServerPart(id),
      tools: ruledToolsOf(id),
    })
    return { server: mcpServerView(requireMcpServer(before)), tools: mcpToolViews(tools) }
  },

  ...changing(parts),

  refresh: loading(
    (input) => ({ ...loadServer(input), ...lookOf(input) }),
    (_, { gate: { now } }, { before, look }) => {
      const server = requireMcpServer(before)
      if (!server.enabled)
        fail(
          'conflict',
          `cannot look: the server is ${server.status === 'refused' ? 'refused' : 'disabled'}`,
          { reason: 'wrong_state' },
        )
      return { reply: { server: mcpServerView(server) }, effects: lookNow(server, look, now) }
    },
  ),

  remove: loading(
    ({ id }) => ({ ...loadKnown(id), calls: callsInFlight }),
    ({ id }, { lanes }, { before, look, tools, calls }) => {
      // Text that is no uuid is nobody's id, so it is treated as an unknown one.
      if (!before) return { reply: { server: null, in_flight: [] }, unchanged: true }
      const effects = {
        writes: [deleteMcpServer(id)],
        settled: look?.state === 'queued' ? [look.id] : [],
      }
      const in_flight = onTheWire(lanes, { tools: tools ?? [], calls })
      return {
        reply: { server: mcpServerView(before), in_flight },
        effects,
        auditDetail: traceOf(before),
      }
    },
  ),
})
