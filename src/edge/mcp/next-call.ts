/** The call that an error suggests, in a form that a model can make. */
import { pathParams } from '#contract/op'
import { NEXT } from '#domain/growth/way-on'
import type { AppError, ErrorCode } from '#kernel/errors'
import type { Operation } from '#ops/engine/bind'
import type { McpContext } from './context.ts'
import { RECORD_TOOL, recordKindOf } from './records.ts'
import { findTool, isInView } from './tools.ts'
import { toolsetOf, type View } from './view.ts'

interface Target {
  operation: Operation
  /** The record's id. */
  id: string
}

const toolCall = (o: Operation, input: object, view: View): string =>
  isInView(o, view)
    ? `${o.tool} ${JSON.stringify(input)}`
    : `${o.tool} ${JSON.stringify(input)}, which ?toolsets=${toolsetOf(o)} lists`

/**
 * Uses the name of its tool, or of the tool for all records. If neither is listed, shows the call
 * over REST.
 */
const callOf = (
  { operation: o, id }: Target,
  operations: McpContext['operations'],
  view: View,
): string => {
  if (o.tool !== undefined)
    return toolCall(o, pathParams(o.path).includes('id') ? { id } : {}, view)
  const kind = recordKindOf(o)
  if (kind && findTool(operations, RECORD_TOOL, view))
    return `${RECORD_TOOL} ${JSON.stringify({ kind, id })}`
  return `${o.method} ${o.path.replace(':id', id)} over REST`
}

/** The call that reads a record: its own, or otherwise the tool of its list. */
export const readingCall = ({ operations }: McpContext, target: Target, view: View): string => {
  const { id } = target.operation
  const list = operations.get(`${id.slice(0, id.lastIndexOf('.'))}.list`)
  const isListed =
    recordKindOf(target.operation) !== undefined &&
    !findTool(operations, RECORD_TOOL, view) &&
    list?.tool !== undefined
  return isListed
    ? `${toolCall(list!, {}, view)} has it as ${target.id}`
    : callOf(target, operations, view)
}

/** For errors that do not concern a record: the operation that shows the state of the workspace. */
export const byCode: Partial<Record<ErrorCode, string>> = {
  plan_quota_exceeded: 'growth.overview.get',
  x_not_connected: 'growth.connection.get',
  x_read_budget_exhausted: 'growth.connection.get',
}

/** Undefined if neither a detail nor the code suggests a call. */
export const wayOnIn = (
  { code, details = [] }: AppError,
  { operations }: McpContext,
  view: View,
): string | undefined => {
  const named = details.filter(({ path }) => path === NEXT).map(({ message }) => message.split(' '))
  const [name] = named[0] ?? [byCode[code]]
  const o = operations.get(name ?? '')
  if (!o) return undefined
  const ids = named.length === 0 ? [''] : named.map(([, id = '']) => id)
  const calls = ids.map((id) => callOf({ operation: o, id }, operations, view)).join(' or ')
  return o.agent === 'commit' ? `ask a person; once they agree, ${calls}` : calls
}
