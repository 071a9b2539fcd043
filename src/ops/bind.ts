/**
 * Every gate of every operation, in reading order: scope and role → rates → input → (a query reads; a command becomes a letter, see
 * command.ts) → output check. Who is calling is settled before (edge/auth.ts).
 */
import type { Answer } from '#actors/engine/letter'
import type { Kind } from '#contract/kinds'
import { type DownloadForm, type Group, KEY_LIMIT, type NamedOp, named, type Op, type Resource } from '#contract/op'
import type { Allowance } from '#kernel/allowance'
import { AppError, fail } from '#kernel/errors'
import type { SessionGrant } from '#store/app/sessions'
import { noteDownload } from '#store/engine/audit'
import { roleOf } from '#store/engine/principal'
import type { Call, HandlerOf, Handlers, QueryContext, RatedCaller, SessionCookies, Visit, World } from './call.ts'
import { type LetterHandler, runCommand } from './command.ts'
import { dispatch } from './dispatch.ts'
import { type Lines, openLines, type Slots } from './download.ts'
import { flawOfText, serialise, validate } from './validate.ts'

interface Running {
  /** `read` gives the input; it is not asked for before the caller's scope is known to suffice. */
  run(read: () => unknown, call: Call): Promise<Answer>
}

interface Entering {
  enter(read: () => unknown, visit: Visit): Promise<Admission>
}

interface Opening {
  open(read: () => unknown, call: Call): Promise<Opened>
}

interface Opened {
  form: DownloadForm
  /** Reads the first record, and more only as they are asked for. Throws what refuses the download before its first record. */
  start(): Promise<Lines>
}

interface Admission extends Answer {
  keep?: SessionCookies | 'nothing' | undefined
}

/** How surfaces call an operation, by its kind. */
interface Calling extends Record<Kind, object> {
  query: Running
  command: Running
  awaited: Running
  prepared: Running
  personal: Entering
  public: Entering
  download: Opening
}

/** An operation with its handler. */
export type Bound<K extends Kind = Kind> = { [N in K]: NamedOp<N> & Calling[N] }[K]
/** One that reads or changes a workspace: can be called from any surface. */
export type Operation = Bound<'query' | 'command' | 'awaited' | 'prepared'>

/** Those that any surface can call. */
export const workspaceOperations = (all: readonly Bound[]): Operation[] => all.filter((o) => 'run' in o)

interface Host {
  world: World
  /** Of all downloads of the process. */
  slots: Slots
}

type Run = (input: unknown, call: Call) => Promise<Answer>

/** Handlers as the gates see them, whatever their operation. */
type AnyHandler = HandlerOf<Op>

/** The operations of a resource, each with its handler behind the gates of its kind. */
export const bind = <G extends Group>(host: Host, resource: Resource<G>, handlers: Handlers<G>): Bound[] =>
  named(resource).map((o) => {
    const run = runners[o.kind] as (host: Host, o: NamedOp, handler: unknown) => object
    return { ...o, ...run(host, o, handlers[o.id.slice(resource.prefix.length + 1)]) } as Bound
  })

/** A person is counted at the workspace where they are signed in, whatever they call. */
const visitorOf = ({ surface }: Visit, { id, workspace, plan }: SessionGrant): RatedCaller => ({
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

const gated = (world: World, o: NamedOp, run: Run): Running => ({
  async run(read, call) {
    requireAccess(o, call)
    return telling(world.rates.count(o, call), async () => {
      const input = await read()
      validate(o.input, input)
      requireUsableKey(call)
      return run(input, call)
    })
  },
})

const entering = ({ world: { db, identity, rates } }: Host, o: NamedOp, handler: AnyHandler['personal' | 'public']): Entering => ({
  enter: (read, visit) =>
    telling(visit.session ? rates.count(o, visitorOf(visit, visit.session)) : [], async () => {
      const input = await read()
      validate(o.input, input)
      const { reply, keep } = await handler(input, { db, identity, visit })
      return { status: o.status, body: serialise(o, reply), keep }
    }),
})

const opening = ({ world, slots }: Host, o: NamedOp, handler: AnyHandler['download']): Opening => ({
  async open(read, call) {
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
  },
})

/** Throws `forbidden`: what only a person may. */
export const refuseKey = (): never => fail('forbidden', 'this requires a signed-in person; API keys cannot do it')

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
  fail('forbidden', `the role ${role} cannot do this; it requires ${['owner', ...o.roles].join(' or ')}`)
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

const reading = ({ world }: Host, o: NamedOp, handler: AnyHandler['query']): Running =>
  gated(world, o, async (input, call) => ({ status: o.status, body: serialise(o, await handler(input, contextFor(world, call))) }))

/** `handlerFor` runs where the command does, before its letter. */
const deciding = ({ world }: Host, o: NamedOp, handlerFor: (input: unknown, call: Call) => Promise<LetterHandler>): Running =>
  gated(world, o, (input, call) =>
    dispatch(world, { o, input, call }, async (local) => {
      const handler = await handlerFor(input, local)
      const command = { o, handler, input, call: local, world, reader: contextFor(world, local) }
      return runCommand(command, (letter) => world.ask(local.tenantId, letter))
    }),
  )

const prepared =
  (handler: AnyHandler['prepared']) =>
  async (input: unknown, { tenantId }: Call): Promise<LetterHandler> => {
    const decide = await handler.prepare(input, { tenantId })
    return (_, context) => decide(context)
  }

/** What runs the operations of a kind. A kind without a row does not compile. */
const runners: { [K in Kind]: (host: Host, o: NamedOp<K>, handler: AnyHandler[K]) => Calling[K] } = {
  query: reading,
  command: (host, o, handler) => deciding(host, o, async () => handler),
  awaited: (host, o, handler) => deciding(host, o, async () => handler),
  prepared: (host, o, handler) => deciding(host, o, prepared(handler)),
  personal: entering,
  public: entering,
  download: opening,
}
