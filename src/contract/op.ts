/**
 * Operations as data. The server, the documents, the other surfaces and many tests loop over them.
 */
import {
  type Static,
  Type as T,
  type TObject,
  type TProperties,
  type TSchema,
} from '@sinclair/typebox'
import type { DocumentedFailure, ErrorCode } from '#kernel/errors'
import type { Role } from '#kernel/roles'
import type { Access, Scope } from '#kernel/scopes'
import { type AgentClass, type FieldsOf, type Kind, kinds } from './kinds.ts'
import type { CapKey, PlanFeature, QuotaKey } from './limits.ts'
import { oneOf } from './shapes.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The fields of every operation, whatever its kind. */
interface Common<I extends TSchema, O extends TSchema> {
  method: Method
  /** Parameters are written as `:name`; each is a field of the input. */
  path: string
  scope: Access
  /** A second scope that the caller needs too. */
  also?: Scope
  /**
   * Roles that can run it; owners can run everything. A member's key can do what the member can do.
   */
  roles: readonly Role[]
  /** The first sentence is a title; the rest says when to use the operation and what it costs. */
  summary: string
  /** Path parameters, query and body in one flat object. */
  input: I
  output: O
  /** The field that is the whole body. Without it, the body's fields are fields of the input. */
  body?: string
  status: number
  /** Errors beyond those that any operation can return. */
  errors: readonly ErrorCode[]
  /** What a 500 of this operation says according to the API document. */
  failure?: DocumentedFailure
  /** The largest body, in bytes. */
  bodyLimit: number
  /**
   * A text that does not have the form of an id answers 404, as an unknown id does. Other
   * operations answer 400.
   */
  anyId?: true
  /** Limits that never refuse it. A caller over a limit must still be able to stop posts. */
  exempt?: readonly Exemption[]
}

/** An operation of kind `K`, which determines the type of its handler. */
export type Op<I extends TSchema = TSchema, O extends TSchema = TSchema, K extends Kind = Kind> = {
  [N in K]: Common<I, O> & { kind: N } & FieldsOf<N>
}[K]

/**
 * `rates`: requests per second of a credential, workspace or address. `answers`: a workspace's
 * storage for replayed answers.
 */
export type Exemption = 'rates' | 'answers'

export const isExempt = ({ exempt = [] }: Pick<Op, 'exempt'>, from: Exemption): boolean =>
  exempt.includes(from)

/** The longest Idempotency-Key in characters, as the API document defines it. */
export const KEY_LIMIT = 200

type Shared = Partial<
  Pick<
    Common<TSchema, TSchema>,
    'body' | 'errors' | 'failure' | 'status' | 'roles' | 'anyId' | 'exempt'
  >
>

/**
 * The plan limits of an operation, kept as literal types because handlers pass `operation.cap` on.
 */
interface Limits<C, Q, F> {
  cap: C
  quota: Q
  feature: F
}

interface Shape<I, O> {
  input: I
  output: O
}

type Declare<K extends Kind, M extends Method, More> = <I extends TProperties, O extends TSchema>(
  route: `${M} /${string}`,
  summary: string,
  shape: Shape<I, O>,
  ...more: object extends More ? [more?: More] : [more: More]
) => Op<TObject<I>, O, K>

/** `Omit` for each member of a union, so that fields that depend on one another still do. */
type OmitFromEach<U, N extends PropertyKey> = U extends unknown ? Omit<U, N> : never

type DeclareChange<K extends Kind> = <
  I extends TProperties,
  O extends TSchema,
  const C extends CapKey | undefined = undefined,
  const Q extends QuotaKey | undefined = undefined,
  const F extends PlanFeature | undefined = undefined,
  const A extends AgentClass | undefined = undefined,
>(
  route: `${Exclude<Method, 'GET'>} /${string}`,
  summary: string,
  shape: Shape<I, O>,
  more?: Shared &
    Scopes &
    OmitFromEach<FieldsOf<K>, keyof Limits<C, Q, F>> &
    Partial<Limits<C, Q, F>> & { agent?: A },
) => Op<TObject<I>, O, K> & Limits<C, Q, F> & { agent: A }

/** The scopes that an operation on a workspace can ask for. */
type Scoped = Exclude<Access, 'public'>

interface Scopes {
  scope?: Scoped
  also?: Scope
}

/** Adds the traits of the kind. The signatures in `Declarations` give the types. */
const declaring =
  (kind: Kind) =>
  (
    route: string,
    summary: string,
    { input, output }: Shape<TProperties, TSchema>,
    more: object = {},
  ): never => {
    const [method, path] = route.split(' ')
    const { scope, roles, bodyLimit } = kinds[kind]
    const schema = T.Object(input, { additionalProperties: false })
    return {
      kind,
      method,
      path,
      scope,
      roles,
      summary,
      input: schema,
      output,
      status: 200,
      errors: [],
      bodyLimit,
      ...more,
    } as never
  }

/** The formats of a download: one JSON object per line, or CSV for spreadsheets. */
const downloadForms = ['ndjson', 'csv'] as const
export type DownloadForm = (typeof downloadForms)[number]
const Format = oneOf(downloadForms, {
  default: 'ndjson',
  description: 'ndjson: one JSON object per line; csv: for spreadsheets, with a header line.',
})

const download = <I extends TProperties, O extends TObject>(
  route: `GET /${string}`,
  summary: string,
  shape: { input: I; line: O },
  more: Pick<Shared, 'roles' | 'errors'> & FieldsOf<'download'> & { csv?: true },
): Op<TObject<I>, O, 'download'> => {
  const { csv, ...rest } = more
  const input = { ...shape.input, ...(csv ? { format: T.Optional(Format) } : {}) }
  return declaring('download')(route, summary, { input, output: shape.line }, rest)
}

/** The answer is the bytes of a file, of its own type. */
const file = <I extends TProperties>(
  route: `GET /${string}`,
  summary: string,
  shape: { input: I },
  more: Pick<Shared, 'roles' | 'errors' | 'anyId'> & Scopes,
): Op<TObject<I>, TSchema, 'file'> =>
  declaring('file')(route, summary, { ...shape, output: T.String({ format: 'binary' }) }, more)

interface Declarations {
  query: Declare<'query', 'GET', Shared & Scopes & FieldsOf<'query'>>
  command: DeclareChange<'command'>
  awaited: DeclareChange<'awaited'>
  prepared: DeclareChange<'prepared'>
  personal: Declare<'personal', Method, Shared & FieldsOf<'personal'>>
  public: Declare<'public', Method, Shared & FieldsOf<'public'>>
  /** `csv`: offers CSV too, for records flat enough for a table. */
  download: typeof download
  file: typeof file
}

/** Declares an operation of a kind: `op.query('GET /things', …)`. */
export const op: Declarations = {
  query: declaring('query'),
  command: declaring('command'),
  awaited: declaring('awaited'),
  prepared: declaring('prepared'),
  personal: declaring('personal'),
  public: declaring('public'),
  download,
  file,
}

/** Operations by the last segment of their id. */
export type Group = Record<string, Op>

/** A group and the prefix of its ids. */
export interface Resource<G extends Group = Group> {
  prefix: string
  /** One sentence for the documents. */
  about: string
  group: G
}

export type NamedOp<K extends Kind = Kind> = Op<TSchema, TSchema, K> & {
  /** For example `growth.items.approve`. */
  id: string
}

/** The resources of an area, by name. They get prefixes such as `growth.items`. */
export const area = <
  const A extends string,
  const R extends Record<string, Omit<Resource, 'prefix'>>,
>(
  name: A,
  resources: R,
): { [N in keyof R]: Resource<R[N]['group']> & { prefix: `${A}.${N & string}` } } =>
  Object.fromEntries(
    Object.entries(resources).map(([last, one]) => [last, { prefix: `${name}.${last}`, ...one }]),
  ) as never

/** The ids of those operations in these resources that are `Like`. */
export type IdsOf<Rs, Like> = {
  [N in keyof Rs]: Rs[N] extends { prefix: infer P extends string; group: infer G }
    ? { [K in keyof G & string]: G[K] extends Like ? `${P}.${K}` : never }[keyof G & string]
    : never
}[keyof Rs]

export const nameOperations = ({ prefix, group }: Resource): NamedOp[] =>
  Object.entries(group).map(([name, o]) => ({ ...o, id: `${prefix}.${name}` }))

/** The body of a request for an input. Undefined if it has none. */
export const bodyFrom = (
  o: Pick<Op, 'body' | 'path'>,
  input: Record<string, unknown>,
): Record<string, unknown> | undefined => {
  const rest = Object.entries(input).filter(([name]) => !pathParams(o.path).includes(name))
  if (o.body !== undefined) return input[o.body] as Record<string, unknown> | undefined
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

export const readsOnly = ({ method }: Pick<Op, 'method'>): boolean => method === 'GET'

/** Whether the answer is one record, read by its id, which a client may keep and ask for again. */
export const readsOneRecord = ({
  kind,
  method,
  path,
  input,
  stream,
}: Pick<Op, 'kind' | 'method' | 'path' | 'stream'> & { input: TSchema }): boolean =>
  kind === 'query' &&
  readsOnly({ method }) &&
  !stream &&
  pathParams(path).length > 0 &&
  !('cursor' in (input as TObject).properties)

/** Whether the operation accepts an Idempotency-Key. */
export const takesKey = ({ kind }: Pick<Op, 'kind'>): boolean => kinds[kind].letter

/** The formats of a download, the default first. */
export const downloadFormsOf = ({ input }: Op): DownloadForm[] =>
  'format' in (input as TObject).properties ? [...downloadForms] : ['ndjson']

/** Every scope that the caller needs, in the order in which they are checked. */
export const requiredAccess = ({ scope, also }: Pick<Op, 'scope' | 'also'>): Access[] =>
  also === undefined ? [scope] : [also, scope]

/** Turns `/items/:id` into `/items/{id}`, for OpenAPI. */
export const braces = (path: string): string => path.replace(/:([a-z_]+)/gi, '{$1}')

export const pathParams = (path: string): string[] =>
  [...path.matchAll(/:([a-z_]+)/gi)].map((match) => match[1]!)

export type OutputOf<O extends Op> = Static<O['output']>

/** The field of the input that is the text of a call: see `theText`. */
export const textFieldOf = ({ input }: Pick<Op, 'input'>): string | undefined =>
  Object.entries((input as TObject).properties).find(([, field]) => field['x-text'] === true)?.[0]

/** Whether the workspace agent has the operation as a tool of its own. */
export const isAgentTool = ({ tool, agent }: Pick<Op, 'tool' | 'agent'>): boolean =>
  tool !== undefined && agent !== 'never'
