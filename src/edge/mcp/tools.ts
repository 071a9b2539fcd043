/** The tools, made from the contract: which ones a caller sees, and their descriptions. */
import type { Tool } from '@modelcontextprotocol/server'
import { readsOnly } from '#contract/op'
import { mayRun } from '#ops/engine/access'
import type { Operation } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'
import type { McpContext } from './context.ts'
import { ARGUMENT, offersKey } from './idempotency-argument.ts'
import { inputSchema, outputSchema } from './schema.ts'
import { hasTool, moduleOf, type View } from './view.ts'

type Operations = ReadonlyMap<string, Operation>

export const toolsOf = (operations: Operations): Operation[] =>
  [...operations.values()].filter((o) => o.tool !== undefined)

const indexes = new WeakMap<Operations, ReadonlyMap<string, Operation>>()

/** The operations by the names of their tools. */
export const toolIndex = (operations: Operations): ReadonlyMap<string, Operation> => {
  const known = indexes.get(operations)
  if (known) return known
  const index = new Map(toolsOf(operations).map((o) => [o.tool!, o]))
  indexes.set(operations, index)
  return index
}

const isOffered = (o: Operation, { toolsets, modules }: View): boolean => {
  if (toolsets) return hasTool(toolsets, o)
  if (o.toolset !== undefined) return false
  const module = moduleOf(o)
  return module === undefined || (modules?.has(module) ?? false)
}

export const isInView = (o: Operation, view: View): boolean =>
  isOffered(o, view) && (!view.readOnly || readsOnly(o))

/** The operation that returns the modules that a workspace has enabled. */
const MODULES = 'agent.modules.list'

/**
 * The view with the workspace's modules. Reads them only if the client has not named any toolsets
 * and the caller may read them.
 */
export const withModules = async (
  { operations, call, run }: McpContext,
  view: View,
): Promise<View> => {
  const reading = operations.get(MODULES)
  if (view.toolsets || !reading || !mayRun(reading, call)) return view
  const { modules } = JSON.parse((await run(MODULES, {})).body) as {
    modules: { name: string; mcp: boolean }[]
  }
  return { ...view, modules: new Set(modules.flatMap(({ name, mcp }) => (mcp ? name : []))) }
}

/**
 * The operation of a tool in this view. Does not check whether the caller may use it, because
 * running it gives the reason.
 */
export const findTool = (
  operations: Operations,
  name: string,
  view: View,
): Operation | undefined => {
  const o = toolIndex(operations).get(name)
  return o && isInView(o, view) ? o : undefined
}

/** The tools that the caller may call, in the contract's order. */
export const visibleTools = (
  operations: Operations,
  caller: Pick<Call, 'scopes' | 'principal'>,
  view: View,
): Operation[] => toolsOf(operations).filter((o) => isInView(o, view) && mayRun(o, caller))

/**
 * Leaves out hints that are false by default (readOnlyHint, idempotentHint), because clients pay
 * for every character.
 */
const annotationsOf = (o: Operation): Tool['annotations'] =>
  readsOnly(o)
    ? { readOnlyHint: true, openWorldHint: o.outside ?? false }
    : {
        destructiveHint: o.destructive ?? false,
        ...(o.repeatable ? { idempotentHint: true } : {}),
        openWorldHint: o.outside ?? o.includes?.of.outside ?? false,
      }

/** The start of a summary, up to its first full stop, comma, semicolon or colon. */
export const shortTitle = (summary: string): string => summary.split(/[.,;:](\s|$)/)[0]!

const WAITS = ' Waits up to 45 s, then says what reads it.'

/**
 * The input with the idempotency key as an argument. It lacks additionalProperties: the refusal of
 * an unknown field names the known fields, which tells a model more.
 */
const withKey = (
  o: Operation,
  { additionalProperties: _, ...schema }: Record<string, unknown>,
): Tool['inputSchema'] => {
  const own = schema.properties as object
  const properties = offersKey(o) ? { ...own, [ARGUMENT]: { type: 'string' } } : own
  return { ...schema, properties } as Tool['inputSchema']
}

export const describeTools = (tools: Operation[]): Tool[] => {
  const titles = new Set<string>()
  return tools.map((o) => ({
    name: o.tool!,
    title: shortTitle(o.summary),
    description: `${o.summary}${o.settles === undefined ? '' : WAITS}`,
    inputSchema: withKey(o, inputSchema(o.input, titles)),
    outputSchema: outputSchema(o.output) as Tool['outputSchema'],
    annotations: annotationsOf(o),
  }))
}
