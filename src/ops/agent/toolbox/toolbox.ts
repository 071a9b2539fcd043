/**
 * Makes tools from the operations, with the same handlers, gates and effects as over REST, decided
 * in the letters of the agent's loop.
 */
import type { TObject, TSchema } from '@sinclair/typebox'
import { includedIn } from '#contract/included'
import { isAgentTool, type NamedOp, pathParams, readsOnly } from '#contract/op'
import { isSettled, settlingId } from '#contract/settling'
import type {
  AskingFacts,
  Decided,
  Reached,
  Tool,
  ToolBox,
  ToolCaller,
  ToolContext,
} from '#decisions/agent/toolbox'
import type { Naming } from '#domain/agent/job/handles'
import type { CallingJob } from '#domain/agent/job/job'
import type { ToolWay } from '#domain/agent/job/step'
import type { ServedTool } from '#domain/agent/mcp/tool'
import { fail } from '#kernel/errors'
import { type Role, roles } from '#kernel/roles'
import type { Sql } from '#store/engine/db'
import { loadNow } from '#store/engine/load'
import { workFor } from '#store/engine/work'
import { mayRun, rolesOf } from '../../engine/access.ts'
import { contextFor } from '../../engine/bind.ts'
import type { CapabilityParts } from '../../engine/call.ts'
import { validate } from '../../engine/validate.ts'
import { askedOfAddress } from '../fetching.ts'
import { innerTools } from './inner-tools.ts'
import {
  type Handled,
  type Operated,
  type OperationActions,
  operationsOf,
  readingIn,
} from './operated.ts'
import { addServedTools, SERVED } from './served-tools.ts'
import { commitReason, subjectFor } from './subject.ts'

/** How operations are worded for models. */
export interface ToolWording {
  title(o: NamedOp): string
  description(o: NamedOp): string
  parameters(o: NamedOp): Record<string, unknown>
  text(schema: TSchema, value: Record<string, unknown>): string
  isForeign(schema: TSchema, value: unknown): boolean
}

type Arguments = Record<string, unknown>

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

class OperationTools implements ToolBox {
  readonly tools: ReadonlyMap<string, Tool>
  /** By name of the tool. */
  readonly #operated: ReadonlyMap<string, Operated>
  /** By id of the operation, including operations that are no tools. */
  readonly #all: ReadonlyMap<string, Operated>
  readonly #inner

  constructor(
    private readonly world: CapabilityParts,
    all: readonly Handled[],
    private readonly wording: ToolWording,
  ) {
    const operations = all.flatMap((one) => operationsOf(world, one))
    this.#operated = new Map(
      operations.filter(({ o }) => isAgentTool(o)).map((one) => [one.o.tool!, one]),
    )
    this.#all = new Map(operations.map((one) => [one.o.id, one]))
    this.#inner = innerTools(world, (name) => this.tools.has(name))
    const tools = [
      ...[...this.#operated.values()].map((one) => toolOf(one, wording)),
      ...this.#inner.tools,
    ]
    this.tools = new Map(tools.map((tool) => [tool.name, tool]))
  }

  and(served: readonly ServedTool[]): ToolBox {
    return addServedTools({ db: this.world.db, sessions: this.world.mcp }, this, served)
  }

  mayRun(name: string, caller: Pick<ToolCaller, 'principal' | 'scopes'>): boolean {
    return this.#inner.has(name) || mayRun(this.#find(name).o, caller)
  }

  roles(name: string): readonly Role[] {
    if (this.#inner.has(name)) return roles
    // A name that is no operation belongs to a tool of an MCP server, whether or not it still
    // exists.
    return rolesOf(this.#operated.get(name)?.o ?? SERVED)
  }

  checked(name: string, args: unknown): Arguments {
    validate(this.#inner.input(name) ?? this.#find(name).o.input, args)
    return args as Arguments
  }

  asks(name: string, args: Arguments, facts: AskingFacts): string[] {
    return this.tools.get(name)?.class === 'outside_read'
      ? askedOfAddress(this.world, String(args.url), facts)
      : []
  }

  includes(name: string, args: Arguments): { field: string; tool: string } | undefined {
    const o = this.#operated.get(name)?.o
    const tool = o && includedIn(o, args)?.tool
    return tool === undefined ? undefined : { field: o!.includes!.field, tool }
  }

  commits(name: string, args: Arguments): string {
    return commitReason(this.#operated.get(name)?.o, args)
  }

  async decide(name: string, args: Arguments, context: ToolContext): Promise<Decided> {
    return this.#inner.has(name)
      ? this.#inner.decide(args)
      : this.#means(name, 'decide')(args, context)
  }

  async read(name: string, args: Arguments, caller: ToolCaller, job: CallingJob): Promise<unknown> {
    const { tenantId, principal } = caller
    if (this.#inner.has(name)) return this.#inner.read(name, args, { caller, job })
    // The caller's rights were checked when the step began; since then the credential itself may
    // have ended.
    const reading = contextFor(this.world, {
      tenantId,
      principal: { kind: 'system', id: 'agent' },
      scopes: new Set(),
    })
    return this.#means(name, 'read')(args, { ...reading, principal, job })
  }

  async reach(name: string, args: Arguments, { tenantId }: ToolCaller): Promise<Reached> {
    return this.#means(name, 'reach')(args, { tenantId })
  }

  async look(
    name: string,
    _args: Arguments,
    awaits: string,
    context: ToolContext,
  ): Promise<{ value: unknown; settled: boolean }> {
    const { o } = this.#find(name)
    if (o.settles) return this.#generation(o, awaits, context)
    const value = await this.#means(name, 'look')(awaits, context)
    const { work } = await loadNow(context.sql, { work: workFor('send', awaits) })
    return { value, settled: work === undefined }
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
    return (
      this.#inner.text(name, value) ??
      this.wording.text(this.#find(name).o.output, value as Record<string, unknown>)
    )
  }

  sources(name: string, value: unknown): string[] | undefined {
    return this.#inner.has(name) ? this.#inner.sources(name, value) : undefined
  }

  isForeign(name: string, value: unknown): boolean {
    if (this.#inner.has(name)) return this.#inner.sources(name, value).length > 0
    return (
      (this.tools.get(name)?.foreign ?? false) &&
      this.wording.isForeign(this.#find(name).o.output, value)
    )
  }

  #find(name: string): Operated {
    return this.#operated.get(name) ?? fail('not_found', `there is no tool ${name}`)
  }

  /** Calling an operation in a way that its kind lacks is a bug of ours. */
  #means<M extends keyof OperationActions>(
    name: string,
    what: M,
  ): NonNullable<OperationActions[M]> {
    return this.#find(name)[what] ?? fail('internal')
  }

  /** Reads a generation by the operation that shows it. */
  async #generation(of: NamedOp, id: string, context: ToolContext) {
    const settling = this.#all.get(settlingId(of) ?? '')
    if (!settling?.read) throw new Error(`${of.id} names no operation to poll`)
    const single = pathParams(settling.o.path).includes('id')
    const value = await settling.read(
      single ? { id } : { limit: 100 },
      readingIn(this.world, context),
    )
    const records = Object.values(value).flat() as { id?: string; status?: string }[]
    return { value, settled: isSettled(records.find((record) => record?.id === id)?.status) }
  }
}

const HIDDEN = 'shown to the person'

/** The value with its secrets replaced. */
const withoutSecrets = (schema: TSchema, value: unknown): unknown => {
  if (schema['x-secret'] === true) return HIDDEN
  if (Array.isArray(value))
    return schema.items ? value.map((one) => withoutSecrets(schema.items, one)) : value
  if (typeof value !== 'object' || value === null || !schema.properties) return value
  const fields = schema.properties as TObject['properties']
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      fields[name] ? withoutSecrets(fields[name], one) : one,
    ]),
  )
}

export const toolBoxOf = (
  world: CapabilityParts,
  all: readonly Handled[],
  wording: ToolWording,
): ToolBox => new OperationTools(world, all, wording)
