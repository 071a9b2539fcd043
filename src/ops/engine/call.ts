/** Callers, the contexts of handlers, and their results. */
import type { Static, TSchema } from '@sinclair/typebox'
import type { Answer, Letter } from '#actors/engine/letter'
import type { Kind } from '#contract/kinds'
import type { Group, Op } from '#contract/op'
import type { McpSessions } from '#decisions/agent/mcp-session'
import type { Takes } from '#decisions/agent/paying'
import type { ToolBox } from '#decisions/agent/toolbox'
import type { Apart, Deciding } from '#decisions/deciding'
import type { Warned } from '#decisions/growth/item-warnings'
import type { CallingJob } from '#domain/agent/job/job'
import type { Models, NO_MODEL } from '#domain/agent/job/model-choice'
import type { StdioProgram } from '#domain/agent/mcp/config'
import type { RatePlan } from '#domain/app/rates'
import type { Allowance } from '#kernel/allowance'
import type { AppError } from '#kernel/errors'
import type { Access } from '#kernel/scopes'
import type { Sealer } from '#kernel/sealer'
import type { ChannelAdapters } from '#port/channel/registry'
import type { Egress } from '#port/egress/egress'
import type { Files } from '#port/files/files'
import type { BlueskyNetwork } from '#port/network/bluesky/network'
import type { Networks } from '#port/network/registry'
import type { Sandbox } from '#port/network/sandbox/sandbox'
import type { NodeClient } from '#port/nodes'
import type { Passwords } from '#port/passwords'
import type { Texts } from '#port/texts/texts'
import type { Tokens } from '#port/tokens'
import type { SessionGrant } from '#store/app/sessions'
import type { Db, Query } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import type { Load } from '#store/engine/load'
import type { Principal } from '#store/engine/principal'

/** One request from any surface. */
export interface Call {
  tenantId: string
  principal: Principal
  scopes: ReadonlySet<Access>
  surface: 'rest' | 'mcp' | 'cli' | 'admin' | 'agent'
  requestId: string
  idempotencyKey?: string | undefined
  /** The idempotency key is the deployment's own; the caller sent none. */
  ownKey?: boolean | undefined
  /**
   * The workspace's plan, for rates. Undefined for the deployment's own calls, which are not
   * counted.
   */
  plan?: RatePlan | undefined
  /** Another process forwarded it, because this one owned the tenant. It is not forwarded again. */
  forwarded?: boolean
}

/**
 * A call of an operation that belongs to no workspace, by a signed-in person or an anonymous
 * caller.
 */
export interface Visit {
  surface: Call['surface']
  requestId: string
  /** The client's IP address, or the one that a trusted proxy gives. */
  address: string
  userAgent: string | null
  /** Whether a page of this deployment is known to have sent the request. */
  isOwnPage?: boolean | undefined
  /** From the cookie. */
  refreshToken?: string | undefined
  /** The browser token from the cookie: somebody has signed in with this browser before. */
  browser?: string | undefined
  session?: SessionGrant | undefined
}

export interface Identity {
  tokens: Tokens
  passwords: Passwords
  /** The base URL of links, without a trailing slash. */
  publicUrl: string
}

/** The caller to count. One without a plan is the deployment itself, and is not counted. */
export type RatedCaller = Pick<Call, 'tenantId' | 'principal' | 'plan' | 'surface' | 'forwarded'>

export interface Rates {
  /**
   * Counts one call of an operation and returns the allowances left. Throws `rate_limited:requests`
   * or `rate_limited:commands`.
   */
  count(o: Pick<Op, 'method' | 'exempt'>, caller: RatedCaller): Allowance[]
  /** Counts MCP messages as requests. Their calls of operations then count as commands only. */
  messages(caller: RatedCaller, amount: number): Allowance[]
  /**
   * Counts the letters that one call takes beside its first, and returns the allowances left.
   * Throws `rate_limited:commands`.
   */
  letters(caller: RatedCaller, amount: number): Allowance[]
  /**
   * Counts a sign-in of the workspace at a network, and to `account` if its password may be a
   * guess. Throws `rate_limited:network`.
   */
  signIn(tenantId: string, account?: string): void
}

/** The parts of the process that operations reach. */
export interface World extends Parts {
  /** The operations as tools of the agent. */
  tools: ToolBox
  models: Models | typeof NO_MODEL
  /** Computations on texts that others may have written to do harm. */
  texts: Texts
}

/** What capabilities reach. */
export interface CapabilityParts extends Parts {
  models: Models | typeof NO_MODEL
  /** Hosts that the operator lets the agent read unasked. */
  fetchAllow: readonly string[]
  /** Capabilities are tools themselves, so it exists only after them. */
  tools(): ToolBox
}

/** What operations reach that are themselves tools of the agent. */
export interface Parts {
  db: Db
  nodes: NodeClient
  networks: Networks
  /** The name of what writes drafts: a model, or `composer`. */
  drafter: string
  /** Carries out commands, for which no model is called. */
  desk: Takes
  /** The built-in network. */
  sandbox: Sandbox
  bluesky: BlueskyNetwork
  /** HTTP to addresses that a tenant chose. */
  egress: Egress
  /** The bytes of artifacts. */
  files: Files
  identity: Identity
  sealer: Sealer
  /** The channels of this deployment. */
  channels: ChannelAdapters
  /** Sessions with the MCP servers of workspaces. */
  mcp: McpSessions & { programs: readonly StdioProgram[] }
  rates: Rates
  ask<R>(tenantId: string, letter: Letter<R>): Promise<R>
}

export interface QueryContext {
  /** The caller's workspace. */
  tenantId: string
  /** Runs one statement over the caller's rows. */
  read<Row>(query: Query<Row>): Promise<Row[]>
  networks: Networks
  principal: Principal
  /** What the caller may do. */
  scopes: ReadonlySet<Access>
  /** The job of the agent that calls; undefined for everybody else. */
  job?: CallingJob
}

/** The first and last byte of a part, from 0. */
export interface FileRange {
  from: number
  to: number
}

/** A file, before any of its bytes are read. */
export interface StoredFile {
  name: string
  mimeType: string
  byteSize: number
  /** In hex. */
  sha256: string
  /**
   * In pieces; without a range, all of it. Rejects with `unavailable`, and with `unauthenticated`
   * once the caller's credential has ended.
   */
  read(range: FileRange | undefined, signal: AbortSignal): AsyncGenerator<Uint8Array>
}

export interface CommandContext extends Deciding {
  /**
   * For commands that decide on many records. Absent where a decision is only tried, or is a part
   * of another one.
   */
  apart?: Apart
  networks: Networks
  principal: Principal
  /** The job of the agent that calls; undefined for everybody else. */
  job?: CallingJob
}

type Replies = { refId: string; with: Answer | AppError | 'late' }[]

export interface HandlerResult<O> {
  reply: O
  effects?: Effects
  /** The record that the audit row names; default, the input's id. */
  refId?: string
  /** The `detail` of the audit row. Must not contain secrets. */
  auditDetail?: Record<string, unknown>
  /** Nothing has changed, so no audit row is written. For operations that no rate limits. */
  unchanged?: boolean
  /**
   * Commits the effects, and refuses. Under the same Idempotency-Key `currentAnswer` then answers
   * for this record: such a handler is one of an awaited operation.
   */
  refusal?: { error: AppError; refId: string }
  answers?: Replies
}

/** The result of an awaited command. `awaits`: the record whose work brings the reply. */
export interface AwaitedResult {
  awaits: string
  effects: Effects
  /** The `detail` of the audit row. Must not contain secrets. */
  auditDetail?: Record<string, unknown>
}

export interface VisitContext {
  db: Db
  identity: Identity
  visit: Visit
}

/** The tokens that a browser stores in cookies. */
export interface SessionCookies {
  access: string
  /** If absent, the browser keeps its present one. */
  refresh?: string | undefined
  expiresAt: Date
  /**
   * Outlives the session and identifies the browser. If absent, the browser keeps its present one.
   */
  browser?: { token: string; expiresAt: Date } | undefined
}

export interface Admitted<O> {
  reply: O
  /** Tokens to store in cookies; `clear` deletes the stored ones. */
  cookies?: SessionCookies | 'clear' | undefined
}

/** Handlers return timestamps as `Date`s. */
type Input<O extends Op> = Static<O['input']>
type Output<O extends Op> = Static<O['output'] extends TSchema ? O['output'] : never>

/**
 * A decision with the records that it needs, which are read with its gate. Made by `loading`, which
 * knows what `load` names.
 */
export interface Loading<I, R> {
  load(input: I, call: Pick<Call, 'tenantId' | 'principal'>): Load
  decide(input: I, context: CommandContext, loaded: never): R | Promise<R>
  /** What its answer warns about. `load` reads what that depends on. */
  warns?: ((input: I) => Warned) | undefined
}

/** Decides a command: alone, or with records loaded. */
export type Decides<I, R> = ((input: I, context: CommandContext) => Promise<R>) | Loading<I, R>

interface AwaitedHandler<O extends Op> {
  /** Begins the work, or is done at once. */
  begin: Decides<Input<O>, AwaitedResult | HandlerResult<Output<O>>>
  /**
   * The answer to a request during the work on this record: 202 with the record as it is, or the
   * final answer.
   */
  currentAnswer(input: Input<O>, context: QueryContext, refId: string): Promise<Answer>
}

/**
 * Calls a network outside the mailbox, and returns the decision for the letter. One command may
 * prepare more than once, and may then be refused or replayed, so the calls must have no lasting
 * effect.
 */
interface PreparedHandler<O extends Op> {
  prepare(
    input: Input<O>,
    context: Pick<CommandContext, 'tenantId'>,
  ): Promise<Decides<Input<O>, HandlerResult<Output<O>>>>
}

/** The type of an operation's handler, by kind. A kind without a row does not compile. */
export interface HandlerOf<O extends Op> extends Record<Kind, unknown> {
  query: (input: Input<O>, context: QueryContext) => Promise<Output<O>>
  command: Decides<Input<O>, HandlerResult<Output<O>>>
  awaited: AwaitedHandler<O>
  prepared: PreparedHandler<O>
  personal: (input: Input<O>, context: VisitContext) => Promise<Admitted<Output<O>>>
  public: (input: Input<O>, context: VisitContext) => Promise<Admitted<Output<O>>>
  download: (input: Input<O>, context: QueryContext) => AsyncIterable<Output<O>>
  file: (input: Input<O>, context: QueryContext) => Promise<StoredFile>
}

/** A missing handler, or one of another kind or shape, does not compile. */
export type Handlers<G extends Group> = { [N in keyof G]: HandlerOf<G[N]>[G[N]['kind']] }
