/**
 * Every gate of every operation, in reading order: scope and role → rates → input → (a query reads; a command becomes a letter, see
 * command.ts) → output check. Who is calling is settled before (edge/auth.ts).
 */
import type { Answer } from '#actors/engine/letter'
import { type DownloadForm, type Group, isQuery, KEY_LIMIT, type NamedOp, named, type Op, type Resource } from '#contract/op'
import type { Allowance } from '#kernel/allowance'
import { AppError, fail } from '#kernel/errors'
import type { SessionGrant } from '#store/app/sessions'
import { noteDownload } from '#store/engine/audit'
import { roleOf } from '#store/engine/principal'
import type {
  AnyCommand,
  AnyDoor,
  AnyDownload,
  AnyPlainCommand,
  AnyQuery,
  Call,
  Counted,
  Handlers,
  Kept,
  QueryContext,
  ReachingHandler,
  Visit,
  World,
} from './call.ts'
import { runCommand } from './command.ts'
import { dispatch } from './dispatch.ts'
import { type Lines, openLines, type Slots } from './download.ts'
import { flawOfText, serialise, validate } from './validate.ts'

/** An operation that can be called, from any surface. */
export interface Operation extends NamedOp {
  /** `read` gives the input; it is not asked for before the caller's scope is known to suffice. */
  run(read: () => unknown, call: Call): Promise<Answer>
}

/** An operation whose answer is a stream of records. */
export interface Download extends NamedOp {
  open(read: () => unknown, call: Call): Promise<Opened>
}

interface Opened {
  form: DownloadForm
  /** Reads the first record, and more only as they are asked for. Throws what refuses the download before its first record. */
  start(): Promise<Lines>
}

/** An operation of no workspace. */
export interface Door extends NamedOp {
  enter(read: () => unknown, visit: Visit): Promise<Admission>
}

interface Admission extends Answer {
  keep?: Kept | 'nothing' | undefined
}

type Run = (input: unknown, call: Call) => Promise<Answer>

export const bind = <G extends Group>(world: World, resource: Resource<G>, handlers: Handlers<G>): Operation[] =>
  ofKind(resource, 'usual').map((o) => ({ ...o, run: runner(world, o, handlers[nameIn(resource, o)] as AnyQuery | AnyCommand) }))

/** The doors of a resource; `bind` gives the usual ones. */
export const bindDoors = <G extends Group>(world: World, resource: Resource<G>, handlers: Handlers<G>): Door[] =>
  ofKind(resource, 'door').map((o) => ({ ...o, enter: entrance(world, o, handlers[nameIn(resource, o)] as AnyDoor) }))

/** The downloads of a resource. `slots`: of all downloads of the process. */
export const bindDownloads = <G extends Group>(
  { world, slots }: { world: World; slots: Slots },
  resource: Resource<G>,
  handlers: Handlers<G>,
): Download[] =>
  ofKind(resource, 'download').map((o) => ({
    ...o,
    open: opener({ world, slots }, o, handlers[nameIn(resource, o)] as unknown as AnyDownload),
  }))

const nameIn = ({ prefix }: Resource, o: NamedOp): string => o.id.slice(prefix.length + 1)

const kindOf = ({ door, download }: NamedOp) => {
  if (door) return 'door'
  return download ? 'download' : 'usual'
}

const ofKind = (resource: Resource, kind: ReturnType<typeof kindOf>): NamedOp[] => named(resource).filter((o) => kindOf(o) === kind)

const entrance =
  ({ db, identity, rates }: World, o: NamedOp, handler: AnyDoor): Door['enter'] =>
  (read, visit) =>
    telling(visit.session ? rates.count(o, visitorOf(visit, visit.session)) : [], async () => {
      const input = await read()
      validate(o.input, input)
      const { reply, keep } = await handler(input, { db, identity, visit })
      return { status: o.status, body: serialise(o, reply), keep }
    })

/** A person is counted where they work, at doors too. */
const visitorOf = ({ surface }: Visit, { id, workspace, plan }: SessionGrant): Counted => ({
  ...{ tenantId: workspace.id, principal: { kind: 'session', id }, surface, plan },
})

/** Every answer says how far the rates go that its request was counted against. */
const telling = async <A extends Answer>(counted: Allowance[], run: () => Promise<A>): Promise<A> => {
  if (counted.length === 0) return run()
  try {
    const answer = await run()
    return { ...answer, allowances: [...counted, ...(answer.allowances ?? [])] }
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    throw AppError.telling(cause, [...counted, ...(cause.allowances ?? [])])
  }
}

const runner = (world: World, o: NamedOp, handler: AnyQuery | AnyCommand): Operation['run'] => {
  const toResult = isQuery(o) ? query(world, o, handler as AnyQuery) : command(world, o, handler as AnyCommand)
  return async (read, call) => {
    requireAccess(o, call)
    return telling(world.rates.count(o, call), async () => {
      const input = await read()
      validate(o.input, input)
      requireUsableKey(call)
      return toResult(input, call)
    })
  }
}

const opener =
  ({ world, slots }: { world: World; slots: Slots }, o: NamedOp, handler: AnyDownload): Download['open'] =>
  async (read, call) => {
    requireAccess(o, call)
    world.rates.count(o, call)
    const input = (await read()) as { format?: DownloadForm }
    validate(o.input, input)
    const form = input.format ?? 'ndjson'
    const start = async () => {
      const lines = await openLines({ o, form, release: slots.take(call.tenantId) }, () => handler(input, contextFor(world, call)))
      await noteDownload(world.db, { tenantId: call.tenantId, operation: o.id, by: call }).catch(async (cause) => {
        await lines.end()
        throw cause
      })
      return lines
    }
    return { form, start }
  }

/** Throws `forbidden`: what only a person may. */
export const refuseKey = (): never => fail('forbidden', 'this takes a person who is signed in; an API key does not reach it')

/** Whether scope and role suffice: what a surface shows to a caller is what this one may do. */
export const mayRun = (o: NamedOp, { scopes, principal }: Pick<Call, 'scopes' | 'principal'>): boolean => {
  const role = roleOf(principal)
  return scopes.has(o.scope) && (role === 'owner' || o.roles.includes(role))
}

const requireAccess = (o: NamedOp, { scopes, principal }: Call): void => {
  if (mayRun(o, { scopes, principal })) return
  if (o.scope === 'session' && !scopes.has('session')) refuseKey()
  if (!scopes.has(o.scope)) fail('missing_scope', o.scope)
  const role = roleOf(principal)
  fail('forbidden', `the role ${role} may not do this; it takes ${['owner', ...o.roles].join(' or ')}`)
}

const requireUsableKey = ({ idempotencyKey: key }: Call): void => {
  const message = key === undefined ? undefined : (flawOfText(key)?.message ?? flawOfLength(key))
  if (message !== undefined) fail('invalid_input', `Idempotency-Key ${message}`, { details: [{ path: 'Idempotency-Key', message }] })
}

/** Characters are code points, as Postgres counts them. */
const flawOfLength = (key: string): string | undefined => {
  const isWithin = key.length > 0 && key.length <= 2 * KEY_LIMIT && [...key].length <= KEY_LIMIT
  return isWithin ? undefined : `must have 1 to ${KEY_LIMIT} characters`
}

const contextFor = (world: World, call: Call): QueryContext => ({
  networks: world.networks,
  principal: call.principal,
  read: (sql) => world.db.read({ tenantId: call.tenantId, caller: call.principal }, sql),
})

const query =
  (world: World, o: NamedOp, handler: AnyQuery): Run =>
  async (input, call) => ({ status: o.status, body: serialise(o, await handler(input, contextFor(world, call))) })

const command =
  (world: World, o: NamedOp, handler: AnyCommand): Run =>
  (input, call) =>
    dispatch(world, { o, input, call }, async (local) => {
      const decided = 'reach' in handler ? await reached(handler, input, local) : handler
      const command = { o, handler: decided, input, call: local, world, reader: contextFor(world, local) }
      return runCommand(command, (letter) => world.ask(local.tenantId, letter))
    })

const reached = async (handler: ReachingHandler<Op>, input: unknown, { tenantId }: Call): Promise<AnyPlainCommand> => {
  const decide = await handler.reach(input as never, { tenantId })
  return (_, context) => decide(context)
}
