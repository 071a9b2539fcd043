/** Makes tools of the operations: the same handlers, gates and effects as over REST, decided in the letters of the agent's loop. */
import type { TObject, TSchema } from '@sinclair/typebox'
import type { Answer } from '#actors/engine/letter'
import { type Group, isSettled, type NamedOp, named, type Resource, readsOnly, settlingId } from '#contract/op'
import type { Decided, Reached, Tool, ToolBox, ToolCaller, ToolContext } from '#decisions/agent/toolbox'
import type { ToolWay } from '#domain/agent/step'
import { fail } from '#kernel/errors'
import type { Query } from '#store/engine/db'
import { loadNow } from '#store/engine/load'
import { workFor } from '#store/engine/work'
import { contextFor, mayRun } from '../bind.ts'
import type { Call, Decides, HandlerOf, QueryContext, World } from '../call.ts'
import { decideOnce, type LetterHandler, noLanes, requireDeclared } from '../command.ts'
import { serialise } from '../serialise.ts'
import { validate } from '../validate.ts'
import { innerTools } from './inner-tools.ts'
import { subjectFor } from './subject.ts'

/** A resource with its handlers. */
export interface Handled {
  resource: Resource
  handlers: unknown
}

/** How surfaces for models word operations. */
export interface ToolWording {
  title(o: NamedOp): string
  description(o: NamedOp): string
  parameters(o: NamedOp): Record<string, unknown>
  text(schema: TSchema, value: Record<string, unknown>): string
  isForeign(schema: TSchema, value: unknown): boolean
}

interface Operated {
  o: NamedOp & { tool: string }
  handler: unknown
}

type Arguments = Record<string, unknown>

const operatedIn = (all: readonly Handled[]): Operated[] =>
  all.flatMap(({ resource, handlers }) =>
    named(resource).flatMap((o) => {
      const handler = (handlers as Record<string, unknown>)[o.id.slice(resource.prefix.length + 1)]
      return o.tool === undefined || o.agent === 'never' ? [] : [{ o: { ...o, tool: o.tool }, handler }]
    }),
  )

const wayOf = (o: NamedOp): ToolWay => {
  if (readsOnly(o)) return 'read'
  if (o.urgent) return 'urgent'
  return o.kind === 'prepared' ? 'reach' : 'command'
}

const toolOf = ({ o }: Operated, wording: ToolWording): Tool => ({
  name: o.tool,
  title: wording.title(o),
  description: wording.description(o),
  parameters: wording.parameters(o),
  module: 'growth',
  class: o.agent as Tool['class'],
  way: wayOf(o),
  foreign: o.foreign ?? false,
})

/** What a handler is told of a call. */
const callOf = (o: NamedOp, { tenantId, principal, scopes }: ToolCaller): Call => ({
  ...{ tenantId, principal, scopes, surface: 'agent', requestId: `agent-${o.tool}` },
})

/** Reads in the letter's own transaction. */
const inLetter = ({ networks }: Pick<World, 'networks'>, { sql, caller }: ToolContext): QueryContext => ({
  networks,
  principal: caller.principal,
  read: async <Row>(query: Query<Row>) => await query(sql),
})

const bodyOf = (answer: Answer): unknown => JSON.parse(answer.body === '' ? '{}' : answer.body)

export const toolBoxOf = (world: World, all: readonly Handled[], wording: ToolWording): ToolBox => {
  const operated = new Map(operatedIn(all).map((one) => [one.o.tool, one]))
  const byId = new Map(all.flatMap(({ resource, handlers }) => named(resource).map((o) => [o.id, { o, handlers, resource }] as const)))
  const inner = innerTools(world)
  const tools = new Map([...[...operated.values()].map((one) => toolOf(one, wording)), ...inner.tools].map((tool) => [tool.name, tool]))
  const find = (name: string): Operated => operated.get(name) ?? fail('not_found', `there is no tool ${name}`)

  const decideBy = async ({ o, handler }: Operated, input: Arguments, context: ToolContext): Promise<Decided> => {
    const decides = (handler as { begin?: unknown }).begin ?? handler
    const call = callOf(o, context.caller)
    const load = typeof decides === 'object' ? (decides as { load(i: unknown, c: Call): never }).load(input, call) : {}
    const loaded = await loadNow(context.sql, load)
    const { tenantId, principal } = context.caller
    const deciding = {
      tenantId,
      principal,
      sql: context.sql,
      gate: context.gate,
      networks: world.networks,
      lanes: context.lanes ?? noLanes,
    }
    const command = { o, handler: handler as LetterHandler, input, call, world, reader: inLetter(world, context) }
    const { reply, effects = {}, awaits } = await decideOnce(command, { context: deciding, loaded }, undefined)
    requireDeclared(o, effects.spend ?? [])
    if (awaits) return { value: {}, effects, awaits: { kind: 'publish', id: awaits } }
    const value = bodyOf(reply)
    const id = effects.audit?.refId
    return o.settles && id ? { value, effects, awaits: { kind: 'generation', id } } : { value, effects }
  }

  const query = (o: NamedOp, handler: unknown) => async (input: Arguments, context: QueryContext) =>
    JSON.parse(serialise(o, await (handler as HandlerOf<NamedOp>['query'])(input as never, context))) as Record<string, unknown>

  /** Reads a generation by the operation that shows it. */
  const generation = async (o: NamedOp, id: string, context: ToolContext) => {
    const settling = byId.get(settlingId(o) ?? '')
    if (!settling) throw new Error(`${o.id} names no operation to poll`)
    const handler = (settling.handlers as Record<string, unknown>)[settling.o.id.slice(settling.resource.prefix.length + 1)]
    const single = 'id' in (settling.o.input as TObject).properties
    const value = await query(settling.o, handler)(single ? { id } : { limit: 100 }, inLetter(world, context))
    const records = Object.values(value).flat() as { id?: string; status?: string }[]
    return { value, settled: isSettled(records.find((record) => record?.id === id)?.status) }
  }

  return {
    tools,
    mayRun: (name, caller) => inner.has(name) || mayRun(find(name).o, caller),
    checked(name, args) {
      const schema = inner.input(name) ?? find(name).o.input
      validate(schema, args)
      return args as Arguments
    },
    async decide(name, args, context) {
      return inner.has(name) ? inner.decide(name, args, context) : decideBy(find(name), args, context)
    },
    async read(name, args, caller, conversationId) {
      if (inner.has(name)) return inner.read(name, args, { ...caller, conversationId })
      const { o, handler } = find(name)
      return query(o, handler)(args, contextFor(world, { ...caller, principal: { kind: 'system', id: 'agent' } }))
    },
    async reach(name, args, { tenantId }): Promise<Reached> {
      const { o, handler } = find(name)
      const prepared = await (handler as HandlerOf<NamedOp>['prepared']).prepare(args as never, { tenantId })
      return (context) => decideBy({ o, handler: prepared as Decides<never, never> }, args, context)
    },
    async look(name, _args, awaits, context) {
      const { o, handler } = find(name)
      if (o.settles) return generation(o, awaits, context)
      const answer = await (handler as HandlerOf<NamedOp>['awaited']).currentAnswer({ id: awaits } as never, inLetter(world, context))
      const { work } = await loadNow(context.sql, { work: workFor('send', awaits) })
      return { value: bodyOf(answer), settled: work === undefined }
    },
    subject: (name, args, sql) => subjectFor(operated.get(name)?.o, { name, args, title: tools.get(name)?.title ?? name }, sql),
    text: (name, value) => inner.text(name, value) ?? wording.text(find(name).o.output, value as Record<string, unknown>),
    isForeign: (name, value) =>
      inner.has(name) ? false : (find(name).o.foreign ?? false) && wording.isForeign(find(name).o.output, value),
  }
}
