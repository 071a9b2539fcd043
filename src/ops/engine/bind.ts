/**
 * The checks of every operation: scope and role (access.ts), then rates, then input (rated.ts);
 * then a query reads, or a command becomes a letter (command.ts); then the output is validated.
 * edge/auth.ts has already authenticated the caller.
 */
import type { Answer } from '#actors/engine/letter'
import type { Kind } from '#contract/kinds'
import {
  type DownloadForm,
  type Group,
  type NamedOp,
  nameOperations,
  type Op,
  type Resource,
} from '#contract/op'
import type { Slots } from '#kernel/fair-limit'
import type { SessionGrant } from '#store/app/sessions'
import { noteDownload } from '#store/engine/audit-entry'
import { requireAccess } from './access.ts'
import type {
  Call,
  HandlerOf,
  Handlers,
  QueryContext,
  RatedCaller,
  SessionCookies,
  StoredFile,
  Visit,
  World,
} from './call.ts'
import { type Command, type LetterHandler, runCommand } from './command.ts'
import { dispatch } from './dispatch.ts'
import { type Lines, openLines } from './download.ts'
import { lettersOf, runInParts } from './in-parts.ts'
import { requireUsableKey, runRated } from './rated.ts'
import { serialise, serialiseFor } from './serialise.ts'
import { validate } from './validate.ts'

interface Runnable {
  /**
   * `read` returns the input, or a promise of it. It is called only after the scope and role
   * checks.
   */
  run(read: () => unknown, call: Call): Promise<Answer>
}

interface Enterable {
  enter(read: () => unknown, visit: Visit): Promise<Admission>
}

interface Openable {
  open(read: () => unknown, call: Call): Promise<OpenDownload>
}

interface Fetchable {
  fetch(read: () => unknown, call: Call): Promise<FileAnswer>
}

/** An answer whose body is a file. */
interface FileAnswer extends Answer {
  file: StoredFile
}

interface OpenDownload {
  form: DownloadForm
  /**
   * Reads the first record; the caller pulls the others. Rejects with any error that comes before
   * the first record.
   */
  start(): Promise<Lines>
}

interface Admission extends Answer {
  cookies?: SessionCookies | 'clear' | undefined
}

/** The method by which surfaces call an operation, by kind. */
interface Callable extends Record<Kind, object> {
  query: Runnable
  command: Runnable
  awaited: Runnable
  prepared: Runnable
  personal: Enterable
  public: Enterable
  download: Openable
  file: Fetchable
}

/** An operation with its handler. */
export type Bound<K extends Kind = Kind> = { [N in K]: NamedOp<N> & Callable[N] }[K]
/** An operation on a workspace; every surface can call it. */
export type Operation = Bound<'query' | 'command' | 'awaited' | 'prepared'>

export const workspaceOperations = (all: readonly Bound[]): Operation[] =>
  all.filter((o) => 'run' in o)

interface Host {
  world: World
  /** Shared by all downloads of the process. */
  slots: Slots
}

type Run<A extends Answer = Answer> = (input: unknown, call: Call) => Promise<A>

type AnyHandler = HandlerOf<Op>

/** The operations of a resource with their handlers, behind the checks of their kind. */
export const bind = <G extends Group>(
  host: Host,
  resource: Resource<G>,
  handlers: Handlers<G>,
): Bound[] =>
  nameOperations(resource).map((o) => {
    const run = runners[o.kind] as (host: Host, o: NamedOp, handler: unknown) => object
    return { ...o, ...run(host, o, handlers[o.id.slice(resource.prefix.length + 1)]) } as Bound
  })

/** Counts a person's requests against the workspace where they are signed in. */
const visitorOf = ({ surface }: Visit, { id, workspace, plan }: SessionGrant): RatedCaller => ({
  tenantId: workspace.id,
  principal: { kind: 'session', id },
  surface,
  plan,
})

const checkAndRun =
  <A extends Answer>(world: World, o: NamedOp, run: Run<A>) =>
  (read: () => unknown, call: Call): Promise<A> =>
    runRated(o, {
      read,
      count() {
        requireAccess(o, call)
        return world.rates.count(o, call)
      },
      countMore(input) {
        requireUsableKey(call)
        return world.rates.letters(call, lettersOf(o, input) - 1)
      },
      run: (input) => run(input, call),
    })

const withChecks = (world: World, o: NamedOp, run: Run): Runnable => ({
  run: checkAndRun(world, o, run),
})

const bindVisit = (
  { world: { db, identity, rates } }: Host,
  o: NamedOp,
  handler: AnyHandler['personal' | 'public'],
): Enterable => ({
  enter: (read, visit) =>
    runRated<Admission>(o, {
      read,
      count: () => (visit.session ? rates.count(o, visitorOf(visit, visit.session)) : []),
      async run(input) {
        const { reply, cookies } = await handler(input, { db, identity, visit })
        return { status: o.status, body: serialise(o, reply), cookies }
      },
    }),
})

const bindDownload = (
  { world, slots }: Host,
  o: NamedOp,
  handler: AnyHandler['download'],
): Openable => ({
  async open(read, call) {
    requireAccess(o, call)
    world.rates.count(o, call)
    const input = (await read()) as { format?: DownloadForm }
    validate(o.input, input)
    const form = input.format ?? 'ndjson'
    const start = async () => {
      const lines = await openLines(
        { o, form, release: slots.take({ party: call.tenantId }) },
        () => handler(input, contextFor(world, call)),
      )
      await noteDownload(world.db, { tenantId: call.tenantId, operation: o.id, by: call }).catch(
        async (cause) => {
          await lines.end()
          throw cause
        },
      )
      return lines
    }
    return { form, start }
  },
})

const bindFile = ({ world }: Host, o: NamedOp, handler: AnyHandler['file']): Fetchable => ({
  fetch: checkAndRun(world, o, async (input, call) => {
    const file = await handler(input, contextFor(world, call))
    return { status: o.status, body: '', file }
  }),
})

export const contextFor = (
  world: Pick<World, 'networks' | 'db'>,
  call: Pick<Call, 'tenantId' | 'principal' | 'scopes'>,
): QueryContext => ({
  tenantId: call.tenantId,
  scopes: call.scopes,
  networks: world.networks,
  principal: call.principal,
  read: (sql) => world.db.read({ tenantId: call.tenantId, caller: call.principal }, sql),
})

const bindQuery = ({ world }: Host, o: NamedOp, handler: AnyHandler['query']): Runnable =>
  withChecks(world, o, async (input, call) => {
    const context = contextFor(world, call)
    return { status: o.status, body: serialiseFor(context, o, await handler(input, context)) }
  })

/** `handlerFor` runs in the process that runs the command, before its letter. */
const bindCommand = (
  { world }: Host,
  o: NamedOp,
  handlerFor: (input: unknown, call: Call) => Promise<LetterHandler>,
): Runnable =>
  withChecks(world, o, (input, call) =>
    dispatch(world, { o, input, call }, async (local) => {
      const handler = await handlerFor(input, local)
      const command = { o, handler, input, call: local, world, reader: contextFor(world, local) }
      const run = (one: Command) => runCommand(one, (letter) => world.ask(local.tenantId, letter))
      return o.inParts ? runInParts(command, run) : run(command)
    }),
  )

const prepareHandler =
  (handler: AnyHandler['prepared']) =>
  (input: unknown, { tenantId }: Call): Promise<LetterHandler> =>
    handler.prepare(input, { tenantId })

/** By kind of operation. A kind without a row does not compile. */
const runners: { [K in Kind]: (host: Host, o: NamedOp<K>, handler: AnyHandler[K]) => Callable[K] } =
  {
    query: bindQuery,
    command: (host, o, handler) => bindCommand(host, o, async () => handler),
    awaited: (host, o, handler) => bindCommand(host, o, async () => handler),
    prepared: (host, o, handler) => bindCommand(host, o, prepareHandler(handler)),
    personal: bindVisit,
    public: bindVisit,
    download: bindDownload,
    file: bindFile,
  }
