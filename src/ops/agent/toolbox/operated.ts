/** Runs operations as tools: with the same handlers and gates as over REST, by kind. */
import type { Answer, Decision } from '#actors/engine/letter'
import type { Kind } from '#contract/kinds'
import { type Group, type NamedOp, nameOperations, type Op, type Resource } from '#contract/op'
import type { Decided, Reached, ToolCaller, ToolContext } from '#decisions/agent/toolbox'
import type { CallingJob } from '#domain/agent/job/job'
import type { Query } from '#store/engine/db'
import { loadNow } from '#store/engine/load'
import type {
  Call,
  CapabilityParts,
  HandlerOf,
  Handlers,
  Parts,
  QueryContext,
} from '../../engine/call.ts'
import { decideOnce, type LetterHandler, noLanes, requireDeclared } from '../../engine/command.ts'
import { serialiseFor } from '../../engine/serialise.ts'

/** A resource with its handlers. */
export interface Handled {
  resource: Resource
  handlers: Handlers<Group>
}

type Arguments = Record<string, unknown>

/** The ways in which operations of a kind can run. */
export interface OperationActions {
  /** Returns the answer that REST gives. */
  read?(args: Arguments, context: QueryContext): Promise<Arguments>
  /** Runs in a letter. */
  decide?(args: Arguments, context: ToolContext): Promise<Decided>
  /** Runs beside the mailbox. */
  reach?(args: Arguments, caller: Pick<ToolCaller, 'tenantId'>): Promise<Reached>
  /** Runs in a letter: returns the answer for the record that a command awaits. */
  look?(awaits: string, context: ToolContext): Promise<unknown>
}

export interface Operated extends OperationActions {
  o: NamedOp
}

type AnyHandler = HandlerOf<Op>

/**
 * By kind of operation; empty for kinds that are no tools. A kind without a row does not compile.
 */
const meansOf: {
  [K in Kind]: (world: CapabilityParts, o: NamedOp<K>, handler: AnyHandler[K]) => OperationActions
} = {
  query(world, o, handler) {
    const read: NonNullable<OperationActions['read']> = async (args, context) =>
      JSON.parse(serialiseFor(context, o, await handler(args, context)))
    return {
      read,
      decide: async (args, context) => ({
        value: await read(args, readingIn(world, context)),
        effects: {},
      }),
    }
  },
  command: (world, o, handler) => ({
    decide: (args, context) => decideBy(world, { o, handler }, args, context),
  }),
  awaited: (world, o, handler) => ({
    decide: (args, context) => decideBy(world, { o, handler }, args, context),
    look: async (awaits, context) =>
      bodyOf(await handler.currentAnswer({ id: awaits }, readingIn(world, context), awaits)),
  }),
  prepared: (world, o, handler) => ({
    async reach(args, { tenantId }) {
      const prepared = await handler.prepare(args, { tenantId })
      return (context) => decideBy(world, { o, handler: prepared }, args, context)
    },
  }),
  personal: () => ({}),
  public: () => ({}),
  download: () => ({}),
  file: () => ({}),
}

export const operationsOf = (world: CapabilityParts, { resource, handlers }: Handled): Operated[] =>
  nameOperations(resource).map((o) => {
    const means = meansOf[o.kind] as (
      world: CapabilityParts,
      o: NamedOp,
      handler: unknown,
    ) => OperationActions
    return { o, ...means(world, o, handlers[o.id.slice(resource.prefix.length + 1)]) }
  })

/** Reads in the letter's own transaction. */
export const readingIn = (
  { networks }: Pick<Parts, 'networks'>,
  { sql, caller, job }: ToolContext,
): QueryContext => ({
  networks,
  tenantId: caller.tenantId,
  principal: caller.principal,
  scopes: caller.scopes,
  job,
  read: async <Row>(query: Query<Row>) => await query(sql),
})

const bodyOf = (answer: Answer): unknown => JSON.parse(answer.body === '' ? '{}' : answer.body)

/** The call as its handler sees it. */
const callOf = (o: NamedOp, { tenantId, principal, scopes }: ToolCaller): Call => ({
  tenantId,
  principal,
  scopes,
  surface: 'agent',
  requestId: `agent-${o.tool}`,
})

/** The record that is settled later, and how to read it. */
const awaitsOf = (
  o: NamedOp,
  { awaits, effects }: Decision<Answer>,
  job: CallingJob,
): Decided['awaits'] => {
  if (awaits) return { kind: 'publish', id: awaits }
  const id = effects?.audit?.refId
  if (!id) return undefined
  if (o.delegates && job.kind !== 'action') return { kind: 'child', id }
  return o.settles ? { kind: 'generation', id } : undefined
}

const decideBy = async (
  world: CapabilityParts,
  { o, handler }: { o: NamedOp; handler: LetterHandler },
  input: Arguments,
  context: ToolContext,
): Promise<Decided> => {
  const { sql, gate, job, caller, lanes = noLanes } = context
  const { tenantId, principal } = caller
  const decides = 'begin' in handler ? handler.begin : handler
  const call = callOf(o, caller)
  const loaded = await loadNow(sql, 'load' in decides ? decides.load(input, call) : {})
  const deciding = { tenantId, principal, sql, gate, lanes, job, networks: world.networks }
  const command = { o, handler, input, call, world, reader: readingIn(world, context) }
  const decision = await decideOnce(command, { context: deciding, loaded }, undefined)
  const { reply, effects = {} } = decision
  requireDeclared(o, input, effects.spend ?? [])
  const awaits = awaitsOf(o, decision, job)
  return { value: bodyOf(reply), effects, ...(awaits && { awaits }) }
}
