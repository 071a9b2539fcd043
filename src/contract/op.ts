/** An operation is data: the server, the documents, the other surfaces and the tests are loops over it. */
import { type Static, Type as T, type TObject, type TProperties, type TSchema } from '@sinclair/typebox'
import type { ErrorCode } from '#kernel/errors'
import type { Role } from '#kernel/roles'
import type { Access } from '#kernel/scopes'
import type { CapKey, Feature, QuotaKey } from './limits.ts'
import { oneOf } from './shapes.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Op<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  method: Method
  /** With parameters as `:name`; each is a field of the input. */
  path: string
  scope: Access
  /** Members that may, beside owners, who may everything. A key that a member has made may what its member may. */
  roles: readonly Role[]
  /** The first sentence is a title; the rest tells when to use it and what it costs. */
  summary: string
  /** Path parameters, query and body in one flat object. */
  input: I
  output: O
  status: number
  tool?: string
  /** The errors that this operation adds to those any operation can give. */
  errors: readonly ErrorCode[]
  /** Also answers 202 with the record as it stands, when the outside world takes long. */
  slow: boolean
  /** Is about a person or nobody yet, not about one workspace: it runs beside the mailboxes. */
  door: boolean
  /** The answer is a stream of records, one a line; `output` is the schema of one. */
  download: boolean
  /** Asks a network first, while nothing of the workspace waits for it; what it answers is decided on like any command. */
  reaches: boolean
  /** The name of the file that a download becomes, without what tells its form. */
  file?: string
  /** The answer holds a secret that is shown once: what is kept of it for a replay is sealed. */
  secret?: boolean
  /** Goes before everything that waits, because it recalls what is about to go out: the kill switch, disconnecting. */
  urgent?: boolean
  /** What cannot be taken back, or leaves the workspace: agents ask before they call such a tool. */
  destructive?: boolean
  /** The largest body that it takes, in bytes. */
  bodyLimit: number
  /** Doing it twice is the same as doing it once, without any key. */
  repeatable?: boolean
  /** Is carried out while the workspace waits for its deletion too. */
  whileDeleting?: boolean
  /** The limits that never refuse it; whoever is over them can still stop what goes out. */
  exempt?: readonly Exemption[]
  /** Reaches beyond this deployment: a network that others see. */
  outside?: boolean
  /**
   * A generation: the operation that reads its record until it is neither queued nor being generated. A name of the same
   * resource, or a whole id. A list stands in where no operation reads the one record.
   */
  settles?: string
  /** The hourly cap that it takes one of. */
  cap?: CapKey | undefined
  /** The monthly quota that it takes from. */
  quota?: QuotaKey | undefined
  /** Plans without it refuse the operation. */
  feature?: Feature | undefined
}

/** `rates`: how fast a credential, a workspace or an address may ask. `answers`: how much a workspace may have kept for replays. */
export type Exemption = 'rates' | 'answers'

/** Whether a limit never refuses it. */
export const isExempt = ({ exempt = [] }: Pick<Op, 'exempt'>, from: Exemption): boolean => exempt.includes(from)

/** The longest Idempotency-Key, in characters; source: the API document. */
export const KEY_LIMIT = 200

/** The largest body, in bytes: of an operation that takes a credential, and of one that anybody may call. */
export const BODY_LIMIT = 1_048_576
export const PUBLIC_BODY_LIMIT = 16_384

/** What any operation may answer beside its own result. */
const commonErrors: readonly ErrorCode[] = [
  'invalid_input',
  'unauthenticated',
  'missing_scope',
  'forbidden',
  'rate_limited',
  'internal',
  'unavailable',
]
const bodyErrors: readonly ErrorCode[] = ['request_timeout', 'payload_too_large', 'unsupported_media_type']
const keyErrors: readonly ErrorCode[] = ['idempotency_in_flight', 'idempotency_key_reused']
/** Where nobody is asked who they are, nobody is refused for it. */
const callerErrors: readonly ErrorCode[] = ['unauthenticated', 'missing_scope', 'forbidden']

const everybody: readonly Role[] = ['editor', 'approver', 'viewer']

type More = Partial<
  Pick<
    Op,
    | 'tool'
    | 'errors'
    | 'status'
    | 'urgent'
    | 'secret'
    | 'scope'
    | 'roles'
    | 'bodyLimit'
    | 'destructive'
    | 'repeatable'
    | 'whileDeleting'
    | 'outside'
    | 'settles'
    | 'exempt'
  >
>

/** The method of a route, and what else decides which kind of handler an operation needs, kept in the type. */
type Declared<I extends TProperties, O extends TSchema, M extends Method, S, D = false, L = false, R = false> = Op<TObject<I>, O> & {
  method: M
  slow: S
  door: D
  download: L
  reaches: R
}

/** What an operation takes of the plan, kept in the type, so that what takes it in can take it from here. */
interface Limits<C, Q, F> {
  cap: C
  quota: Q
  feature: F
}

/** An operation of no workspace: how people come in, what they do about themselves. `public`: anybody, else a person who is signed in. */
export const door = <M extends Method, I extends TProperties, O extends TSchema>(
  route: `${M} /${string}`,
  summary: string,
  shape: { input: I; output: O },
  more: Omit<More, 'scope'> & { scope: 'public' | 'session' },
): Declared<I, O, M, false, true> => {
  const bodyLimit = more.scope === 'public' ? PUBLIC_BODY_LIMIT : BODY_LIMIT
  return { ...op(route, summary, shape, { roles: everybody, bodyLimit, ...more }), slow: false, door: true }
}

/** The forms of a download: a JSON object a line, or comma-separated values for spreadsheets. */
const downloadForms = ['ndjson', 'csv'] as const
export type DownloadForm = (typeof downloadForms)[number]
const Format = oneOf(downloadForms, {
  default: 'ndjson',
  description: 'ndjson: one JSON object per line; csv: for spreadsheets, with a header line.',
})

/** What is taken away as a file, by a person who is signed in. `csv`: its records are flat enough for a table, so that form is offered too. */
export const download = <I extends TProperties, O extends TObject>(
  route: `GET /${string}`,
  summary: string,
  shape: { input: I; line: O },
  more: Pick<More, 'roles' | 'errors'> & { file: string; csv?: true },
): Declared<I, O, 'GET', false, false, true> => {
  const { csv, file, ...rest } = more
  const input = { ...shape.input, ...(csv ? { format: T.Optional(Format) } : {}) } as I
  return { ...op(route, summary, { input, output: shape.line }, { ...rest, scope: 'session' }), slow: false, download: true, file }
}

export const op = <
  M extends Method,
  I extends TProperties,
  O extends TSchema,
  const S extends boolean = false,
  const R extends boolean = false,
  const C extends CapKey | undefined = undefined,
  const Q extends QuotaKey | undefined = undefined,
  const F extends Feature | undefined = undefined,
>(
  route: `${M} /${string}`,
  summary: string,
  shape: { input: I; output: O },
  more: More & { slow?: S; reaches?: R; cap?: C; quota?: Q; feature?: F } = {},
): Declared<I, O, M, S, false, false, R> & Limits<C, Q, F> => {
  const [method, path] = route.split(' ') as [M, string]
  return {
    method,
    path,
    scope: method === 'GET' ? 'api:read' : 'api:write',
    roles: method === 'GET' ? everybody : [],
    summary,
    input: T.Object(shape.input, { additionalProperties: false }),
    output: shape.output,
    status: 200,
    errors: [],
    bodyLimit: BODY_LIMIT,
    door: false,
    download: false,
    ...more,
    slow: (more.slow ?? false) as S,
    reaches: (more.reaches ?? false) as R,
    cap: more.cap as C,
    quota: more.quota as Q,
    feature: more.feature as F,
  }
}

/** Operations by the last part of their id. */
export type Group = Record<string, Op>

/** A group with the first part of its ids. */
export interface Resource<G extends Group = Group> {
  prefix: string
  /** What it is, in a sentence, for the documents. */
  about: string
  group: G
}

export interface NamedOp extends Op {
  /** `growth.items.approve`. */
  id: string
}

export const named = ({ prefix, group }: Resource): NamedOp[] =>
  Object.entries(group).map(([name, o]) => ({ ...o, id: `${prefix}.${name}` }))

export const isQuery = (o: Op): boolean => o.method === 'GET'

/** Whether an Idempotency-Key makes a second time replay the first: what changes something in one workspace. */
export const takesKey = (o: Op): boolean => !isQuery(o) && !o.door

/** The forms in which a download may be had; the first one unless asked for another. */
export const formsOf = ({ input }: Op): DownloadForm[] => ('format' in (input as TObject).properties ? [...downloadForms] : ['ndjson'])

/** What costs is refused where billing is in the way; the other refusals of the plan follow from what is taken of it. */
const planErrors = ({ cap, quota, feature }: Op): ErrorCode[] => [
  ...(cap || quota ? (['plan_invalid'] as const) : []),
  ...(quota ? (['plan_quota_exceeded'] as const) : []),
  ...(feature ? (['plan_feature_disabled'] as const) : []),
]

/** Every error that an operation may answer. */
export const errorsOf = (o: Op): ErrorCode[] => [
  ...new Set([...o.errors, ...planErrors(o)]),
  ...commonErrors.filter((code) => o.scope !== 'public' || !callerErrors.includes(code)),
  ...(isQuery(o) ? [] : bodyErrors),
  ...(takesKey(o) ? keyErrors : []),
]

/** `/items/:id` as OpenAPI writes it. */
export const braces = (path: string): string => path.replace(/:([a-z_]+)/gi, '{$1}')

export const pathParams = (path: string): string[] => [...path.matchAll(/:([a-z_]+)/gi)].map((match) => match[1]!)

export type OutputOf<O extends Op> = Static<O['output']>

/** The id of the operation that `settles` names. */
export const settlingId = ({ id, settles }: Pick<NamedOp, 'id' | 'settles'>): string | undefined =>
  settles === undefined || settles.includes('.') ? settles : `${id.slice(0, id.lastIndexOf('.'))}.${settles}`

/** Of a generation: nothing more comes by itself. Engagements go on from there as drafted ones. */
export const isSettled = (status: unknown): boolean => status !== 'queued' && status !== 'generating'
