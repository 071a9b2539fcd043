/** The tools, made from the contract: which of them a caller sees, and how each is described. */
import type { Tool } from '@modelcontextprotocol/server'
import { readsOnly, settlingId } from '#contract/op'
import { mayRun, type Operation } from '#ops/bind'
import type { Call } from '#ops/call'
import { inputSchema, outputSchema } from './schema.ts'
import { toolsetOf, type View } from './view.ts'

type Operations = ReadonlyMap<string, Operation>

export const toolsOf = (operations: Operations): Operation[] => [...operations.values()].filter((o) => o.tool !== undefined)

const isShown = (o: Operation, { toolsets, readOnly }: View): boolean =>
  (toolsets?.has(toolsetOf(o)) ?? true) && (!readOnly || readsOnly(o))

/** The operation behind a tool of this view, whether or not its caller may use it: the gates say why not. */
export const findTool = (operations: Operations, name: string, view: View): Operation | undefined =>
  toolsOf(operations).find((o) => o.tool === name && isShown(o, view))

/** Those that the caller may call, in the contract's order. */
export const visibleTools = (operations: Operations, caller: Pick<Call, 'scopes' | 'principal'>, view: View): Operation[] =>
  toolsOf(operations).filter((o) => isShown(o, view) && mayRun(o, caller))

/** What is false unless said, as readOnlyHint and idempotentHint by the protocol, is not said: every list is paid for. */
const annotationsOf = (o: Operation): Tool['annotations'] =>
  readsOnly(o)
    ? { readOnlyHint: true, openWorldHint: o.outside ?? false }
    : {
        destructiveHint: o.destructive ?? false,
        ...(o.repeatable ? { idempotentHint: true } : {}),
        openWorldHint: o.outside ?? false,
      }

/** The head of a summary, for people: up to its first full stop, comma or colon. */
const titleOf = (summary: string): string => summary.split(/[.,;:](\s|$)/)[0]!

/** Where a generation that was not waited for is looked at: what settles it, or the list beside that. */
const follow = (operations: Operations, o: Operation): string => {
  const settling = settlingId(o)
  if (settling === undefined) return ''
  const tool = operations.get(settling)?.tool ?? operations.get(`${settling.slice(0, settling.lastIndexOf('.'))}.list`)?.tool
  return tool ? ` With a progress token, returns when done; else watch ${tool}.` : ''
}

export const describeTools = (operations: Operations, tools: Operation[]): Tool[] => {
  const said = new Set<string>()
  const inputs = tools.map((o) => inputSchema(o.input, said))
  // What some input spells out is not spelled out once more where it is given back.
  const shown = new Set(said)
  return tools.map((o, index) => ({
    name: o.tool!,
    title: titleOf(o.summary),
    description: `${o.summary}${follow(operations, o)}`,
    inputSchema: inputs[index] as Tool['inputSchema'],
    outputSchema: outputSchema(o.output, shown) as Tool['outputSchema'],
    annotations: annotationsOf(o),
  }))
}
