/**
 * The operations as tools of the agent. The loop gets them as a value, so that it knows neither
 * their handlers nor their schemas: src/ops/agent/toolbox/toolbox.ts makes it.
 */
import type { Subject } from '#domain/agent/job/approval'
import type { Naming } from '#domain/agent/job/handles'
import type { CallingJob } from '#domain/agent/job/job'
import type { ToolClass, ToolWay } from '#domain/agent/job/step'
import type { RuleDecision } from '#domain/agent/job/verdict'
import type { ServedTool } from '#domain/agent/mcp/tool'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'
import type { ToolDefinition } from '#port/model/thinker'
import type { Sql } from '#store/engine/db'
import type { Effects, Gate } from '#store/engine/letter'
import type { Principal } from '#store/engine/principal'
import type { LiveLanes } from '../deciding.ts'

export interface Tool extends ToolDefinition {
  /** The first words of its description. */
  title: string
  /** `growth`, `agent`, or `mcp` for tools of servers that the workspace has connected. */
  module: string
  class: ToolClass
  way: ToolWay
  /** Its answers may contain words of people outside the workspace. */
  foreign: boolean
  /** What a rule that allows calls outside is bound to. Default: the hash of the definition. */
  hash?: string
  /**
   * Of a tool of an MCP server: the server; where taint says that its answers and its description
   * come from.
   */
  server?: string
  source?: string
  describedBy?: string
}

/** Who calls, as of now. */
export interface ToolCaller {
  tenantId: string
  principal: Principal
  scopes: ReadonlySet<Scope | 'session'>
}

type Arguments = Record<string, unknown>

export interface ToolContext {
  sql: Sql
  gate: Gate
  caller: ToolCaller
  job: CallingJob
  lanes?: LiveLanes
}

/**
 * A command decided in a letter. `awaits`: its record is settled later, and the value is of before
 * that.
 */
export interface Decided {
  value: unknown
  effects: Effects
  awaits?: { kind: 'generation' | 'publish' | 'child'; id: string }
  /** Names of tools whose definitions the job is given from now on. */
  shown?: string[]
}

/** Decides with what was fetched outside. */
export type Reached = (context: ToolContext) => Promise<Decided>

/** What is known of the job that calls. */
export interface AskingFacts {
  rules: ReadonlyMap<string, RuleDecision>
  taint: readonly string[]
  inChannel?: boolean
  /** Calls of the tool that its job and the others of its tree have made unasked. */
  unasked: number
}

export interface ToolBox {
  readonly tools: ReadonlyMap<string, Tool>
  /** With tools of the workspace's MCP servers besides, which never replace others. */
  and(served: readonly ServedTool[]): ToolBox
  mayRun(name: string, caller: Pick<ToolCaller, 'principal' | 'scopes'>): boolean
  /** Who can make a call of it: owners, and the roles beside them. */
  roles(name: string): readonly Role[]
  /** The arguments as the operation takes them. Throws `invalid_input`. */
  checked(name: string, args: unknown): Arguments
  /**
   * Why a person is asked of this very call, whatever its class says; empty if nobody is. Throws
   * the refusal of a call that can never run.
   */
  asks(name: string, args: Arguments, facts: AskingFacts): string[]
  /** What a call of class commit does, as `why` says it. */
  commits(name: string, args: Arguments): string
  /** In a letter, also what only reads. Throws the operation's refusals. */
  decide(name: string, args: Arguments, context: ToolContext): Promise<Decided>
  /** Beside the mailbox. */
  read(name: string, args: Arguments, caller: ToolCaller, job: CallingJob): Promise<unknown>
  /** Beside the mailbox: what a command must fetch before it can be decided. */
  reach(name: string, args: Arguments, caller: ToolCaller): Promise<Reached>
  /** In a letter: the record of a command that had to wait, and whether it is settled. */
  look(
    name: string,
    args: Arguments,
    awaits: string,
    context: ToolContext,
  ): Promise<{ value: unknown; settled: boolean }>
  /**
   * What a person is asked: a sentence made from the records, and what the decision is bound to.
   * Throws `not_found`.
   */
  subject(name: string, args: Arguments, sql: Sql): Promise<{ summary: string; subject: Subject }>
  /** An answer without its secrets, which are for the caller alone. */
  kept(name: string, value: unknown): unknown
  /** What the records in an answer are called. */
  naming(name: string): Naming
  /** An answer of a tool as lines for a model. */
  text(name: string, value: unknown): string
  /**
   * Where the words of others in an answer come from, if the answer itself says it; undefined: it
   * does not.
   */
  sources(name: string, value: unknown): string[] | undefined
  /** Whether an answer contains text of people outside the workspace. */
  isForeign(name: string, value: unknown): boolean
}
