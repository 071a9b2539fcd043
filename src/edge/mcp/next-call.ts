/** The call that an error leads to, as a model can make it. */
import { pathParams } from '#contract/op'
import { NEXT } from '#domain/growth/way-on'
import type { ErrorDetail } from '#kernel/errors'
import type { Operation } from '#ops/bind'
import type { McpContext } from './context.ts'
import { findTool } from './tools.ts'
import { toolsetOf, type View } from './view.ts'

/** With the tool's name where there is one; else as over REST. */
const callOf = (operations: McpContext['operations'], o: Operation, { id, view }: { id: string; view: View }): string => {
  if (o.tool === undefined) return `${o.method} ${o.path.replace(':id', id)} over REST`
  const call = `${o.tool} ${JSON.stringify(pathParams(o.path).includes('id') ? { id } : {})}`
  return findTool(operations, o.tool, view) ? call : `${call}, which ?toolsets=${toolsetOf(o)} lists`
}

/** Undefined if no detail names a call. */
export const wayOnIn = (details: readonly ErrorDetail[], { operations }: McpContext, view: View): string | undefined => {
  const [name, id = ''] = details.find(({ path }) => path === NEXT)?.message.split(' ') ?? []
  const o = operations.get(name ?? '')
  if (!o) return undefined
  const call = callOf(operations, o, { id, view })
  return o.agent === 'commit' ? `ask a person; once they agree, ${call}` : call
}
