/** Makes tools of the operations: the same handlers, gates and effects as over REST, decided in the letters of the agent's loop. */
import type { TObject, TSchema } from '@sinclair/typebox'
import type { Answer } from '#actors/engine/letter'
import { isAgentTool, isSettled, type NamedOp, named, type Resource, readsOnly, settlingId } from '#contract/op'
import type { AskingFacts, Decided, Reached, Tool, ToolBox, ToolCaller, ToolContext } from '#decisions/agent/toolbox'
import type { Naming } from '#domain/agent/job/handles'
import type { CallingJob } from '#domain/agent/job/job'
import type { ToolWay } from '#domain/agent/job/step'
import type { ServedTool } from '#domain/agent/mcp/tool'
import { fail } from '#kernel/errors'
import { type Role, roles } from '#kernel/roles'
import type { Query, Sql } from '#store/engine/db'
import { type Load, loadNow } from '#store/engine/load'
import { workFor } from '#store/engine/work'
import { contextFor, mayRun, rolesOf } from '../../engine/bind.ts'
import type { Call, CapabilityParts, HandlerOf, Parts, QueryContext } from '../../engine/call.ts'
import { decideOnce, type LetterHandler, noLanes, requireDeclared } from '../../engine/command.ts'
import { serialiseFor } from '../../engine/serialise.ts'
import { validate } from '../../engine/validate.ts'
import { askedOfAddress } from '../fetching.ts'
import { innerTools } from './inner-tools.ts'
import { SERVED, withServed } from './served-tools.ts'
import { commitReason, subjectFor } from './subject.ts'

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
  o: NamedOp
  handler: unknown
}

type Arguments = Record<string, unknown>

const operatedIn = (all: readonly Handled[]): Operated[] =>
  all.flatMap(handlersOf).flatMap(([, { o, handler }]) => (isAgentTool(o) ? ([{ o, handler }] as Operated[]) : []))

const wayOf = (o: NamedOp): ToolWay => {
  if (readsOnly(o)) return 'read'
  if (o.urgent) return 'urgent'
  return o.kind === 'prepared' ? 'reach' : 'command'
}

const toolOf = ({ o }: Operated, wording: ToolWording): Tool => ({
  name: o.tool!,
  title: wording.title(o),
  description: wording.description(o),
  parameters: wording.parameters(o),
  module: o.id.slice(0, o.id.indexOf('.')),
  class: o.agent as Tool['class'],
  way: wayOf(o),
  foreign: o.foreign ?? false,
})

/** What a handler is told of a call. */
const callOf = (o: NamedOp, { tenantId, principal, scopes }: ToolCaller): Call => ({
  ...{ tenantId, principal, scopes, surface: 'agent', requestId: `agent-${o.tool}` },
})

/** Reads in the letter's own transaction. */
const inLetter = ({ networks }: Pick<Parts, 'networks'>, { sql, caller, job }: ToolContext): QueryContext => ({
  networks,
  tenantId: caller.tenantId,
  principal: caller.principal,
  scopes: caller.scopes,
  job,
  read: async <Row>(query: Query<Row>) => await query(sql),
})

const bodyOf = (answer: Answer): unknown => JSON.parse(answer.body === '' ? '{}' : answer.body)

class OperationTools implements ToolBox {
  readonly tools: ReadonlyMap<string, Tool>
  readonly #operated: ReadonlyMap<string, Operated>
  readonly #handlers: ReadonlyMap<string, { o: NamedOp; handler: unknown }>
  readonly #inner

  constructor(
    private readonly world: CapabilityParts,
    all: readonly Handled[],
    private readonly wording: ToolWording,
  ) {
    this.#operated = new Map(operatedIn(all).map((one) => [one.o.tool!, one]))
    this.#handlers = new Map(all.flatMap(handlersOf))
    this.#inner = innerTools(world, (name) => this.tools.has(name))
    const tools = [...[...this.#operated.values()].map((one) => toolOf(one, wording)), ...this.#inner.tools]
    this.tools = new Map(tools.map((tool) => [tool.name, tool]))
  }

  and(served: readonly ServedTool[]): ToolBox {
    return withServed({ db: this.world.db, sessions: this.world.mcp }, this, served)
  }

  mayRun(name: string, caller: Pick<ToolCaller, 'principal' | 'scopes'>): boolean {
    return this.#inner.has(name) || mayRun(this.#find(name).o, caller)
  }

  roles(name: string): readonly Role[] {
    if (this.#inner.has(name)) return roles
    // What is no operation is a tool of a server, be it there any more or not.
    return rolesOf(this.#operated.get(name)?.o ?? SERVED)
  }

  checked(name: string, args: unknown): Arguments {
    validate(this.#inner.input(name) ?? this.#find(name).o.input, args)
    return args as Arguments
  }

  asks(name: string, args: Arguments, facts: AskingFacts): string[] {
    return this.tools.get(name)?.class === 'outside_read' ? askedOfAddress(this.world, args as { url: string }, facts) : []
  }

  commits(name: string, args: Arguments): string {
    return commitReason(this.#operated.get(name)?.o, args)
  }

  async decide(name: string, args: Arguments, context: ToolContext): Promise<Decided> {
    return this.#inner.has(name) ? this.#inner.decide(args) : this.#decide(this.#find(name), args, context)
  }

  async read(name: string, args: Arguments, caller: ToolCaller, job: CallingJob): Promise<unknown> {
    const { tenantId, principal } = caller
    if (this.#inner.has(name)) return this.#inner.read(name, args, { caller, job })
    const { o, handler } = this.#find(name)
    // The caller's rights were checked when the step began; the credential itself may have ended since.
    const reading = contextFor(this.world, { tenantId, principal: { kind: 'system', id: 'agent' }, scopes: new Set() })
    return answerOf(o, handler, args, { ...reading, principal, job })
  }

  async reach(name: string, args: Arguments, { tenantId }: ToolCaller): Promise<Reached> {
    const { o, handler } = this.#find(name)
    const prepared = await (handler as HandlerOf<NamedOp>['prepared']).prepare(args as never, { tenantId })
    return (context) => this.#decide({ o, handler: prepared }, args, context)
  }

  async look(name: string, _args: Arguments, awaits: string, context: ToolContext): Promise<{ value: unknown; settled: boolean }> {
    const { o, handler } = this.#find(name)
    if (o.settles) return this.#generation(o, awaits, context)
    const answer = await (handler as HandlerOf<NamedOp>['awaited']).currentAnswer(
      { id: awaits } as never,
      inLetter(this.world, context),
      awaits,
    )
    const { work } = await loadNow(context.sql, { work: workFor('send', awaits) })
    return { value: bodyOf(answer), settled: work === undefined }
  }

  subject(name: string, args: Arguments, sql: Sql) {
    return subjectFor(
      this.#operated.get(name)?.o,
      { name, args, title: this.tools.get(name)?.title ?? name },
      { sql, networks: this.world.networks },
    )
  }

  kept(name: string, value: unknown): unknown {
    return this.#inner.has(name) ? value : withoutSecrets(this.#find(name).o.output, value)
  }

  naming(name: string): Naming {
    return (this.#operated.get(name)?.o.output ?? {}) as Naming
  }

  text(name: string, value: unknown): string {
    return this.#inner.text(name, value) ?? this.wording.text(this.#find(name).o.output, value as Record<string, unknown>)
  }

  sources(name: string, value: unknown): string[] | undefined {
    return this.#inner.has(name) ? this.#inner.sources(name, value) : undefined
  }

  isForeign(name: string, value: unknown): boolean {
    if (this.#inner.has(name)) return this.#inner.sources(name, value).length > 0
    return (this.tools.get(name)?.foreign ?? false) && this.wording.isForeign(this.#find(name).o.output, value)
  }

  #find(name: string): Operated {
    return this.#operated.get(name) ?? fail('not_found', `there is no tool ${name}`)
  }

  async #decide({ o, handler }: Operated, input: Arguments, context: ToolContext): Promise<Decided> {
    const { world } = this
    if (o.kind === 'query') return { value: await answerOf(o, handler, input, inLetter(world, context)), effects: {} }
    const decides = (handler as { begin?: unknown }).begin ?? handler
    const call = callOf(o, context.caller)
    const load = typeof decides === 'object' ? (decides as { load(i: unknown, c: Call): Load }).load(input, call) : {}
    const loaded = await loadNow(context.sql, load)
    const { tenantId, principal } = context.caller
    const { sql, gate, job, lanes = noLanes } = context
    const deciding = { tenantId, principal, sql, gate, lanes, job, networks: world.networks }
    const command = { o, handler: handler as LetterHandler, input, call, world, reader: inLetter(world, context) }
    const { reply, effects = {}, awaits } = await decideOnce(command, { context: deciding, loaded }, undefined)
    requireDeclared(o, effects.spend ?? [])
    if (awaits) return { value: {}, effects, awaits: { kind: 'publish', id: awaits } }
    const value = bodyOf(reply)
    const id = effects.audit?.refId
    if (o.delegates && id && job.kind !== 'action') return { value, effects, awaits: { kind: 'child', id } }
    return o.settles && id ? { value, effects, awaits: { kind: 'generation', id } } : { value, effects }
  }

  /** Reads a generation by the operation that shows it. */
  async #generation(of: NamedOp, id: string, context: ToolContext) {
    const settling = this.#handlers.get(settlingId(of) ?? '')
    if (!settling) throw new Error(`${of.id} names no operation to poll`)
    const { o, handler } = settling
    const single = 'id' in (o.input as TObject).properties
    const value = await answerOf(o, handler, single ? { id } : { limit: 100 }, inLetter(this.world, context))
    const records = Object.values(value).flat() as { id?: string; status?: string }[]
    return { value, settled: isSettled(records.find((record) => record?.id === id)?.status) }
  }
}

const handlersOf = ({ resource, handlers }: Handled) =>
  named(resource).map((o) => {
    const handler = (handlers as Record<string, unknown>)[o.id.slice(resource.prefix.length + 1)]
    return [o.id, { o, handler }] as const
  })

const HIDDEN = 'shown to the person'

/** The value with other words in the place of its secrets. */
const withoutSecrets = (schema: TSchema, value: unknown): unknown => {
  if (schema['x-secret'] === true) return HIDDEN
  if (Array.isArray(value)) return schema.items ? value.map((one) => withoutSecrets(schema.items, one)) : value
  if (typeof value !== 'object' || value === null || !schema.properties) return value
  const fields = schema.properties as TObject['properties']
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fields[name] ? withoutSecrets(fields[name], one) : one]))
}

/** The answer of a query, as REST gives it. */
const answerOf = async (o: NamedOp, handler: unknown, input: Arguments, context: QueryContext): Promise<Record<string, unknown>> =>
  JSON.parse(serialiseFor(context, o, await (handler as HandlerOf<NamedOp>['query'])(input as never, context)))

export const toolBoxOf = (world: CapabilityParts, all: readonly Handled[], wording: ToolWording): ToolBox =>
  new OperationTools(world, all, wording)
