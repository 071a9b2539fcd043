/** Who is calling, what handlers may use, and what they give back. */
import type { Static, TSchema } from '@sinclair/typebox'
import type { Answer, Letter } from '#actors/engine/letter'
import type { Kind } from '#contract/kinds'
import type { Group, Op } from '#contract/op'
import type { Deciding } from '#decisions/deciding'
import type { RatePlan } from '#domain/app/rates'
import type { Allowance } from '#kernel/allowance'
import type { AppError } from '#kernel/errors'
import type { Access } from '#kernel/scopes'
import type { Sealer } from '#kernel/sealer'
import type { Egress } from '#port/egress/egress'
import type { Networks } from '#port/network/registry'
import type { Sandbox } from '#port/network/sandbox/sandbox'
import type { NodeClient } from '#port/nodes'
import type { Passwords } from '#port/passwords'
import type { Tokens } from '#port/tokens'
import type { SessionGrant } from '#store/app/sessions'
import type { Db, Query } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import type { Principal } from '#store/engine/principal'

/** One request, from whatever surface. */
export interface Call {
  tenantId: string
  principal: Principal
  scopes: ReadonlySet<Access>
  surface: 'rest' | 'mcp' | 'cli' | 'admin'
  requestId: string
  idempotencyKey?: string | undefined
  /** The key is the deployment's own: the caller sent none. */
  ownKey?: boolean | undefined
  /** Of the workspace, for rates; the deployment's own calls have none, and are not counted. */
  plan?: RatePlan | undefined
  /** Another process sent it here, because the tenant was owned here: it goes no further. */
  forwarded?: boolean
}

/** Who calls an operation of no workspace: somebody unknown, or a person who is signed in. */
export interface Visit {
  surface: Call['surface']
  requestId: string
  /** Of the other end, or what a trusted proxy says of it. */
  address: string
  userAgent: string | null
  /** From its cookie. */
  refreshToken?: string | undefined
  /** What a browser keeps in which somebody has signed in before; from its cookie. */
  browser?: string | undefined
  session?: SessionGrant | undefined
}

/** How people are known. */
export interface Identity {
  tokens: Tokens
  passwords: Passwords
  /** Where links lead: the address of this deployment, without a slash at its end. */
  publicUrl: string
}

/** Who is counted. A caller without a plan is the deployment itself, which is not. */
export type RatedCaller = Pick<Call, 'tenantId' | 'principal' | 'plan' | 'surface' | 'forwarded'>

export interface Rates {
  /** Counts one call of an operation, and gives how far the rates go. Throws `rate_limited:requests` or `rate_limited:commands`. */
  count(o: Pick<Op, 'method' | 'exempt'>, caller: RatedCaller): Allowance[]
  /** Counts messages of MCP as requests; their calls of operations are then counted as commands alone. */
  messages(caller: RatedCaller, amount: number): Allowance[]
}

/** The parts of the process that operations reach. */
export interface World {
  db: Db
  nodes: NodeClient
  networks: Networks
  /** The network that takes in whoever asks. */
  sandbox: Sandbox
  /** For addresses that a tenant chose. */
  egress: Egress
  identity: Identity
  sealer: Sealer
  rates: Rates
  ask<R>(tenantId: string, letter: Letter<R>): Promise<R>
}

export interface QueryContext {
  /** One statement over the caller's rows. */
  read<Row>(query: Query): Promise<Row[]>
  networks: Networks
  principal: Principal
}

export interface CommandContext extends Deciding {
  networks: Networks
  principal: Principal
}

type Replies = { refId: string; with: Answer | AppError }[]

export interface HandlerResult<O> {
  reply: O
  effects?: Effects
  /** The record that the audit row names, where the input has no id. */
  refId?: string
  /** The `detail` of the audit row: never a secret. */
  auditDetail?: Record<string, unknown>
  /** Nothing has changed, and no audit row is written: for what no rate limits. */
  unchanged?: boolean
  answers?: Replies
}

/** A command whose reply belongs to the outcome of the work on a record. */
export interface Begun {
  awaits: string
  effects: Effects
}

export interface VisitContext {
  db: Db
  identity: Identity
  visit: Visit
}

/** What a browser keeps; it ends with the session. */
export interface SessionCookies {
  access: string
  /** Absent: the one there is stays. */
  refresh?: string | undefined
  expiresAt: Date
  /** What outlasts the session: by it the browser is known. Absent: what is there stays. */
  browser?: { token: string; expiresAt: Date } | undefined
}

/** `keep`: tokens for cookies, or that those there are be forgotten. */
export interface Admitted<O> {
  reply: O
  keep?: SessionCookies | 'nothing' | undefined
}

/** Timestamps leave handlers as `Date`s, and no handler's output is changed afterwards. */
type Input<O extends Op> = Static<O['input']>
type Output<O extends Op> = Static<O['output'] extends TSchema ? O['output'] : never>

interface AwaitedHandler<O extends Op> {
  begin(input: Input<O>, context: CommandContext): Promise<Begun>
  /** The answer for whoever comes while it lasts: 202 with the record as it stands, or the final one. */
  asItStands(input: Input<O>, context: QueryContext): Promise<Answer>
}

/**
 * Asks a network outside of any letter, and gives what the letter then decides. It may ask more than once for one command, and
 * for one that is then refused or replayed, so asking must change nothing that matters.
 */
interface PreparedHandler<O extends Op> {
  prepare(
    input: Input<O>,
    context: Pick<CommandContext, 'tenantId'>,
  ): Promise<(context: CommandContext) => Promise<HandlerResult<Output<O>>>>
}

/** What implements an operation, by its kind. A kind without a row does not compile. */
export interface HandlerOf<O extends Op> extends Record<Kind, unknown> {
  query: (input: Input<O>, context: QueryContext) => Promise<Output<O>>
  command: (input: Input<O>, context: CommandContext) => Promise<HandlerResult<Output<O>>>
  awaited: AwaitedHandler<O>
  prepared: PreparedHandler<O>
  personal: (input: Input<O>, context: VisitContext) => Promise<Admitted<Output<O>>>
  public: (input: Input<O>, context: VisitContext) => Promise<Admitted<Output<O>>>
  download: (input: Input<O>, context: QueryContext) => AsyncIterable<Output<O>>
}

/** A missing handler, or one of another kind or shape, does not compile. */
export type Handlers<G extends Group> = { [N in keyof G]: HandlerOf<G[N]>[G[N]['kind']] }
