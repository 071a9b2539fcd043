/**
 * The operations as tools of the agent. The loop gets them as a value, so it depends neither on
 * their handlers nor on their schemas. src/ops/agent/toolbox/toolbox.ts makes them.
 */
import type { Subject } from '#domain/agent/job/approval'
import type { CallingJob } from '#domain/agent/job/job'
import type { ToolClass, ToolWay } from '#domain/agent/job/step'
import type { ToolForms } from '#domain/agent/job/tool-answer'
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
  /** Whether its answers may contain text of outsiders. */
  foreign: boolean
  /** What a rule that allows outside calls is bound to. Default: the hash of the definition. */
  hash?: string
  /**
   * For a tool of an MCP server: the server, and the source that taint names for its answers and
   * its description.
   */
  server?: string
  source?: string
  describedBy?: string
}

/** The caller, with its present rights. */
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
 * A command decided in a letter. `awaits`: a record that is settled later; the value is its state
 * before that.
 */
export interface Decided {
  value: unknown
  effects: Effects
  awaits?: { kind: 'generation' | 'publish' | 'child'; id: string }
  /** Names of tools whose definitions the job is given from now on. */
  shown?: string[]
}

/** Decides, using what was fetched from outside. */
export type Reached = (context: ToolContext) => Promise<Decided>

/** Facts about the job that calls. */
export interface AskingFacts {
  rules: ReadonlyMap<string, RuleDecision>
  taint: readonly string[]
  inChannel?: boolean
  /** How often its job tree has called the tool unasked. */
  unasked: number
}

export interface ToolBox extends ToolForms {
  readonly tools: ReadonlyMap<string, Tool>
  /** Adds the tools of the workspace's MCP servers, which never replace other tools. */
  and(served: readonly ServedTool[]): ToolBox
  mayRun(name: string, caller: Pick<ToolCaller, 'principal' | 'scopes'>): boolean
  /** The roles that can call it, including owners. */
  roles(name: string): readonly Role[]
  /** The arguments in the operation's form. Throws `invalid_input`. */
  checked(name: string, args: unknown): Arguments
  /**
   * Why a person is asked about this particular call, whatever the tool's class; empty if nobody
   * is. Throws the refusal of a call that can never run.
   */
  asks(name: string, args: Arguments, facts: AskingFacts): string[]
  /** Another tool whose work the call does too, and the field of the arguments that says so. */
  includes(name: string, args: Arguments): { field: string; tool: string } | undefined
  /** What a call of class commit does, as the reason for asking. */
  commits(name: string, args: Arguments): string
  /** Runs in a letter, even for tools that only read. Throws the operation's refusals. */
  decide(name: string, args: Arguments, context: ToolContext): Promise<Decided>
  /** Runs beside the mailbox. */
  read(name: string, args: Arguments, caller: ToolCaller, job: CallingJob): Promise<unknown>
  /** Runs beside the mailbox: fetches what a command needs before it can be decided. */
  reach(name: string, args: Arguments, caller: ToolCaller): Promise<Reached>
  /**
   * Runs in a letter: reads the record of a command that had to wait, and whether it is settled.
   */
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
}
