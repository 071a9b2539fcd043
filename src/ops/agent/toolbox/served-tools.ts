/**
 * Combines the agent's tools with those of the workspace's MCP servers, which exist only for one
 * job at a time.
 */
import { type McpSessions, useMcpSession } from '#decisions/agent/mcp-session'
import { quoteBeginning, sha256 } from '#decisions/agent/saying'
import type { Decided, Tool, ToolBox, ToolCaller } from '#decisions/agent/toolbox'
import type { CallingJob } from '#domain/agent/job/job'
import { definitionOf, flawOfArguments } from '#domain/agent/mcp/offer'
import { withoutSecrets } from '#domain/agent/mcp/secrets'
import { serverPlace } from '#domain/agent/mcp/server'
import type { ServedTool } from '#domain/agent/mcp/tool'
import { canonical } from '#kernel/canonical'
import { AppError, fail } from '#kernel/errors'
import { McpError } from '#port/mcp-client/client'
import { serverOfTool } from '#store/agent/mcp-tools'
import type { Db } from '#store/engine/db'
import { loadBy } from '#store/engine/load'
import { mayRun, type Permitted } from '../../engine/access.ts'
import { refuseTags } from '../../engine/validate.ts'

/**
 * What the caller of a server's tool needs: sending data out of the workspace takes an approver.
 */
export const SERVED: Permitted = { scope: 'api:write', also: 'workspace:use', roles: ['approver'] }

export interface ServedParts {
  db: Pick<Db, 'read'>
  sessions: McpSessions
}

interface Answer {
  text: string
  isError: boolean
}

type Arguments = Record<string, unknown>

/** The time for a whole call: connecting, calling and ending the session. */
const CALL_MS = 55_000

const invalid = (message: string): never =>
  fail('invalid_input', message, { details: [{ path: '', message }] })

const USE_TOOLS = 'use_tools'

class ServedTools implements ToolBox {
  readonly tools: ReadonlyMap<string, Tool>
  readonly #served: ReadonlyMap<string, ServedTool>

  constructor(
    private readonly parts: ServedParts,
    private readonly base: ToolBox,
    served: readonly ServedTool[],
  ) {
    this.#served = new Map(
      served.flatMap((tool) => (base.tools.has(tool.name) ? [] : [[tool.name, tool]])),
    )
    const tools = [...this.#served.values()].map((tool): [string, Tool] => [
      tool.name,
      definitionOf(tool),
    ])
    this.tools = new Map([...base.tools, ...tools])
  }

  and(served: readonly ServedTool[]): ToolBox {
    return new ServedTools(this.parts, this.base, [...this.#served.values(), ...served])
  }

  mayRun(name: string, caller: Pick<ToolCaller, 'principal' | 'scopes'>): boolean {
    return this.#served.has(name) ? mayRun(SERVED, caller) : this.base.mayRun(name, caller)
  }

  roles(name: string): ReturnType<ToolBox['roles']> {
    return this.base.roles(name)
  }

  checked(name: string, args: unknown): Arguments {
    const tool = this.#served.get(name)
    if (!tool) return this.base.checked(name, args)
    refuseTags(args)
    const flaw = flawOfArguments(args as Arguments, tool.parameters)
    return flaw === undefined ? (args as Arguments) : invalid(flaw)
  }

  asks(name: string, ...rest: [Arguments, Parameters<ToolBox['asks']>[2]]): string[] {
    return this.#served.has(name) ? [] : this.base.asks(name, ...rest)
  }

  includes(name: string, args: Arguments) {
    return this.base.includes(name, args)
  }

  commits(name: string, args: Arguments): string {
    return this.base.commits(name, args)
  }

  /** Definitions of server tools are given to the job like any others. */
  async decide(
    name: string,
    args: Arguments,
    context: Parameters<ToolBox['decide']>[2],
  ): Promise<Decided> {
    const names = name === USE_TOOLS ? (args.names as string[]) : []
    const others = names.filter((one) => !this.#served.has(one))
    if (names.length === others.length) return this.base.decide(name, args, context)
    const shown =
      others.length > 0 ? (await this.base.decide(name, { names: others }, context)).shown : []
    return {
      value: { names },
      effects: {},
      shown: [...names.filter((one) => this.#served.has(one)), ...(shown ?? [])],
    }
  }

  async read(name: string, args: Arguments, caller: ToolCaller, job: CallingJob): Promise<unknown> {
    const tool = this.#served.get(name)
    return tool
      ? this.#call(tool, args, caller.tenantId, job.stepId)
      : this.base.read(name, args, caller, job)
  }

  reach(...given: Parameters<ToolBox['reach']>): ReturnType<ToolBox['reach']> {
    return this.base.reach(...given)
  }

  look(...given: Parameters<ToolBox['look']>): ReturnType<ToolBox['look']> {
    return this.base.look(...given)
  }

  async subject(
    name: string,
    args: Arguments,
    sql: Parameters<ToolBox['subject']>[2],
  ): ReturnType<ToolBox['subject']> {
    const tool = this.#served.get(name)
    if (!tool) return this.base.subject(name, args, sql)
    const text = JSON.stringify(args, null, 2)
    return {
      summary: `Call ${quoteBeginning(tool.own_name)} of the MCP server ${quoteBeginning(tool.server_name)}, which is ${serverPlace(tool.place)}, with ${briefly(args)}`,
      subject: {
        records: [{ kind: 'mcp_server', id: tool.server_id, sha256: tool.hash }],
        account: null,
        text,
        sha256: sha256(canonical(args)),
      },
    }
  }

  kept(name: string, value: unknown): unknown {
    return this.#served.has(name) ? value : this.base.kept(name, value)
  }

  naming(name: string): ReturnType<ToolBox['naming']> {
    return this.base.naming(name)
  }

  text(name: string, value: unknown): string {
    if (!this.#served.has(name)) return this.base.text(name, value)
    const { text, isError } = value as Answer
    return isError ? `The tool says that it failed:\n${text}` : text
  }

  sources(name: string, value: unknown): string[] | undefined {
    return this.#served.has(name) ? undefined : this.base.sources(name, value)
  }

  isForeign(name: string, value: unknown): boolean {
    return this.#served.has(name) || this.base.isForeign(name, value)
  }

  /**
   * Sends the call at most once. Only our own errors say that it was not done; after any other
   * error that is unknown.
   */
  async #call(
    { name, own_name, hash }: ServedTool,
    args: Arguments,
    tenantId: string,
    idempotencyKey: string,
  ): Promise<Answer> {
    const { sessions, db } = this.parts
    const { server } = await loadBy((query) => db.read({ tenantId }, query), {
      server: serverOfTool(name),
    })
    if (server?.hash !== hash)
      return fail('conflict', 'the tool has changed since; nothing was sent', {
        reason: 'stale_record',
      })
    const { id, place, ...sealed } = server
    const signal = AbortSignal.timeout(CALL_MS)
    try {
      return await useMcpSession(
        sessions,
        { tenantId, server: { id, ...place }, sealed },
        signal,
        async ({ session, secrets }) => {
          const { text, isError } = await session.call(own_name, args, { idempotencyKey, signal })
          return { text: withoutSecrets(text, secrets), isError }
        },
      )
    } catch (cause) {
      if (cause instanceof McpError && cause.outcome === 'not_done')
        throw new AppError('network_error', `it was not called: ${cause.message}`, { cause })
      throw cause
    }
  }
}

const SHOWN = 200

const briefly = (args: Arguments): string => {
  const text = JSON.stringify(args)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** A tool box whose `and` adds tools of servers. */
export const addServedTools = (
  parts: ServedParts,
  base: ToolBox,
  served: readonly ServedTool[],
): ToolBox => new ServedTools(parts, base, served)
