/**
 * Which call the brief suggests to a reader: one that the reader may make. Otherwise it suggests
 * the read that shows what a person must decide.
 */
import { operations } from '#contract/index'
import type { NamedOp } from '#contract/op'
import type { BriefAction } from '#domain/growth/brief/brief'
import { mayRun } from '../../engine/access.ts'
import type { QueryContext } from '../../engine/call.ts'

const byId = new Map<string, NamedOp>(operations.map((o) => [o.id, o]))

/** By the operation that the caller may not run. */
const reads: Record<string, string> = {
  'app.plan.get': 'growth.plan.get',
  'app.connections.connectSandbox': 'growth.connection.get',
  'app.connections.connectBluesky': 'growth.connections.list',
  'growth.items.approve': 'growth.items.get',
  'growth.items.schedule': 'growth.items.get',
  'growth.items.markPosted': 'growth.items.get',
  'growth.automation.resumeAll': 'growth.automation.get',
  'growth.profile.update': 'growth.profile.get',
  'growth.batches.create': 'growth.plan.get',
  'growth.audits.create': 'growth.plan.get',
  'growth.experiments.conclude': 'growth.experiments.get',
  'growth.engagements.approve': 'growth.engagements.list',
  'growth.engagements.execute': 'growth.engagements.list',
  'growth.signals.engage': 'growth.signals.get',
  'agent.channelReplies.settle': 'agent.channelReplies.get',
}

const APPROVALS = ['growth.items.approve', 'growth.engagements.approve']

/** The fields of the arguments that the operation accepts. */
const fitting = ({ input }: NamedOp, given: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => name in input.properties))

type Call = Pick<BriefAction, 'operation' | 'arguments' | 'why'> & { tool: string | null }

/**
 * `tool` is null if a person must act. Undefined for an operation of another version, and if the
 * caller may not even read.
 */
export const callFor = (
  action: BriefAction,
  { principal, scopes, job }: Pick<QueryContext, 'principal' | 'scopes' | 'job'>,
): Call | undefined => {
  const o = byId.get(action.operation)
  if (!o) return undefined
  const { operation, arguments: given, why } = action
  if (mayRun(o, { principal, scopes })) {
    const asks = (principal.kind !== 'session' || job) && APPROVALS.includes(operation)
    return {
      operation,
      arguments: given,
      tool: o.tool ?? null,
      why: asks ? `${why} Ask a person before you approve.` : why,
    }
  }
  const read = byId.get(reads[operation] ?? 'growth.overview.get')!
  // Callers who may not use the agent see nothing of its replies.
  if (!mayRun(read, { principal, scopes })) return undefined
  return {
    operation: read.id,
    arguments: fitting(read, given),
    tool: null,
    why: `${why} You may not do this yourself: ask a person.`,
  }
}
