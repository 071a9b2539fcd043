/**
 * Lists the tools of a workspace's MCP server: when it is connected, when somebody asks, and hourly
 * while it is used.
 */
import { type McpSessions, useMcpSession } from '#decisions/agent/mcp-session'
import { foreignTools, type OmittedTool } from '#domain/agent/mcp/foreign-tools'
import { cleanedOf } from '#domain/agent/mcp/secrets'
import { lookedAt, lookFailed, type McpServer, nextLook, placeHash } from '#domain/agent/mcp/server'
import { toolsFound } from '#domain/agent/mcp/tool'
import type { Failpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import { McpError, MOST_TOOLS } from '#port/mcp-client/client'
import { mcpSecretsPart, mcpServerPart, saveMcpServer } from '#store/agent/mcp-servers'
import {
  deleteMcpTools,
  deleteRulesBeside,
  insertMcpTools,
  mcpToolsOf,
} from '#store/agent/mcp-tools'
import type { Effects } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Work } from '#store/engine/work'
import type { Claimed, Claiming, Lane, LaneContext } from '../../engine/lane.ts'
import type { Decision } from '../../engine/letter.ts'
import { finishWork, requeue } from '../decisions.ts'

export interface LookDeps {
  sessions: McpSessions
  failpoints: Failpoints
  log: Log
}

interface Look {
  server: McpServer
  sealed: { headers: string | null; env: string | null }
}

type Outcome =
  | { kind: 'listed'; tools: unknown[]; isCut: boolean }
  | { kind: 'failed'; error: string }
  | { kind: 'stopped' }

/** Includes connecting. */
const LOOK_MS = 90_000
const LEASE_MS = 2 * LOOK_MS

/** Listing twice does no harm. */
export const mcpLookLane = (deps: LookDeps): Lane<Look, Outcome> => ({
  kind: 'mcp_look',
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: claimLook,
  run: (look, context) => runLook(deps, look, context),
  settle: (sql, gate, { work, job, outcome }) => settleLook({ sql, gate, work }, job, outcome),
  crashed: () => ({ kind: 'failed', error: 'the tools could not be listed' }),
})

const claimLook = async (
  sql: Claiming['sql'],
  _gate: Claiming['gate'],
  work: Work,
): Promise<Claimed<Look>> => {
  const { server, sealed } = await loadNow(sql, {
    server: mcpServerPart(work.ref_id),
    sealed: mcpSecretsPart(work.ref_id),
  })
  if (!server?.enabled) return { decision: finishWork(work) }
  return { job: { server, sealed: sealed! }, decision: { reply: undefined } }
}

const runLook = async (
  { sessions, failpoints, log }: LookDeps,
  look: Look,
  context: LaneContext,
): Promise<Outcome> => {
  const { tenantId } = context
  await failpoints('agent.mcp.looking')
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(LOOK_MS)])
  try {
    return await useMcpSession(
      sessions,
      { tenantId, ...look },
      signal,
      async ({ session, secrets }) => {
        const { tools, isCut } = await session.list()
        return { kind: 'listed', tools: cleanedOf(tools, secrets), isCut }
      },
    )
  } catch (cause) {
    if (context.signal.aborted) return { kind: 'stopped' }
    if (!(cause instanceof McpError)) throw cause
    log.debug(
      { err: cause, workspace: tenantId, server: look.server.id },
      'the tools of an MCP server could not be listed',
    )
    return { kind: 'failed', error: cause.message }
  }
}

const settleLook = async (
  { sql, gate: { now }, work }: Claiming,
  look: Look,
  outcome: Outcome,
): Promise<Decision<void>> => {
  const { server, before } = await loadNow(sql, {
    server: mcpServerPart(work.ref_id),
    before: mcpToolsOf(work.ref_id),
  })
  if (!server?.enabled) return finishWork(work)
  // The listing is about another program by now, or the tools have other names.
  const isOutdated =
    placeHash(server) !== placeHash(look.server) || server.tool_prefix !== look.server.tool_prefix
  if (outcome.kind === 'stopped' || isOutdated) return requeue(work, now)
  if (outcome.kind === 'failed') return lookAgain(work, lookFailed(server, outcome.error, now), now)
  const { tools, leftOut } = foreignTools(server.tool_prefix, outcome.tools)
  const found = toolsFound(server, { tools, before, now })
  const isSame = found.length === before.length && found.every((tool) => before.includes(tool))
  const gone = deleteRulesBeside(
    server.id,
    found.map(({ name }) => name),
  )
  const changed = [gone, ...(found.length > 0 ? [insertMcpTools(found)] : [])]
  const effects = isSame ? {} : { first: [deleteMcpTools(server.id)], writes: changed }
  return lookAgain(work, lookedAt(server, saidOf(leftOut, outcome.isCut), now), now, effects)
}

/** What people are told about tools that are not offered. The reasons are in our own words. */
const saidOf = (leftOut: readonly OmittedTool[], isCut: boolean): string | null => {
  const [first] = leftOut
  const left = first
    ? [`${leftOut.length} of its tools cannot be offered; of the first, ${first.reason}`]
    : []
  const cut = isCut
    ? [`it has more than ${MOST_TOOLS} tools, or they are too long; the rest was not read`]
    : []
  return left.length + cut.length === 0 ? null : [...left, ...cut].join('; ')
}

const lookAgain = (
  work: Work,
  server: McpServer,
  now: Date,
  effects: Effects = {},
): Decision<void> => {
  const all = { ...effects, writes: [...(effects.writes ?? []), saveMcpServer(server)] }
  const next = nextLook(server, now)
  // Nobody asked for the next listing, so the kill switch stops it.
  return next
    ? {
        reply: undefined,
        effects: { ...all, requeued: [{ id: work.id, runAt: next, origin: 'automatic' }] },
      }
    : finishWork(work, all)
}
