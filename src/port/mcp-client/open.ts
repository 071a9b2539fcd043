/** The client, together with what the operator allows. */
import { FairLimit } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { Egress } from '../egress/egress.ts'
import { EgressRefused } from '../egress/target.ts'
import {
  DEADLINE_MS,
  type McpClient,
  type McpClientSession,
  type McpConnection,
  McpError,
} from './client.ts'
import { httpLink } from './http.ts'
import { openMcpSession } from './session.ts'
import { type Confinement, confinementOf, confinementRefusal } from './stdio/confinement.ts'
import { stdioLink } from './stdio/link.ts'

/** A program that the operator lets workspaces run. */
export interface ConfinedProgram {
  command: string
  args: readonly string[]
  /** Names of the variables that a workspace may set for it. */
  env: readonly string[]
  /** Whether it has access to the network. */
  network?: boolean
  /** Whether it may run without namespaces. It then has the network and can see other processes. */
  unconfined?: boolean
}

export interface McpClientOptions {
  egress: Egress
  programs: readonly ConfinedProgram[]
  /** TENDRIL_HOME, which programs must not be able to read. Undefined if this machine has none. */
  home: string | undefined
  log: Log
  /** Our version, which servers are told. */
  version: string
  deadlineMs?: number
}

const refuse = (reason: string): never => {
  throw new McpError('refused', reason)
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((word, index) => word === other[index])

/**
 * How many programs a process runs at once, each with everything that it has started. Granted to
 * workspaces in turn.
 */
const PROGRAMS = {
  name: 'MCP program',
  total: 8,
  share: { alone: 6, among: 3 },
  bound: 32,
  withinMs: 20_000,
}

const UNSENDABLE = /[\0\r\n]/

type Stdio = Extract<McpConnection, { transport: 'stdio' }>

/** The operator's entry for this program. */
const allowedBy = (
  { command, args, env }: Stdio,
  programs: readonly ConfinedProgram[],
): ConfinedProgram => {
  const names = Object.keys(env)
  const same = programs.filter(
    (program) => program.command === command && isSame(program.args, args),
  )
  if (same.length === 0)
    refuse('the operator does not allow this command with these arguments (MCP_STDIO)')
  const entry = same.find((program) => names.every((name) => program.env.includes(name)))
  if (Object.values(env).some((value) => UNSENDABLE.test(value)))
    refuse('a variable of a program can have only one line')
  return entry ?? refuse('the operator does not allow these variables (MCP_STDIO)')
}

class ClientOfServers implements McpClient {
  /** Determined once for each confinement, because it takes a process. */
  readonly #refusals = new Map<Confinement, string | undefined>()
  readonly #programs = new FairLimit(PROGRAMS)

  constructor(private readonly options: McpClientOptions) {}

  check(config: McpConnection): void {
    if (config.transport === 'stdio') this.#checkProgram(config)
    else this.#checkUrl(config.url)
  }

  #checkUrl(url: string): void {
    try {
      this.options.egress.check(url)
    } catch (cause) {
      throw cause instanceof EgressRefused
        ? new McpError('refused', cause.message, 'not_done', { cause })
        : cause
    }
  }

  #checkProgram(config: Stdio): Confinement {
    const { programs, home } = this.options
    const confinement = confinementOf(allowedBy(config, programs))
    const refusal = this.#refusals.getOrInsertComputed(confinement, () =>
      confinementRefusal(home, confinement),
    )
    if (refusal !== undefined) refuse(`stdio is not possible here: ${refusal}`)
    return confinement
  }

  async open(
    config: McpConnection,
    { signal, tenantId }: { signal: AbortSignal; tenantId: string },
  ): Promise<McpClientSession> {
    this.check(config)
    const { egress, log, version, deadlineMs = DEADLINE_MS } = this.options
    const session = { signal, deadlineMs, version }
    if (config.transport === 'stdio') {
      const confinement = this.#checkProgram(config)
      await this.#placed(tenantId)
      const release = () => this.#programs.leave(tenantId)
      return await openMcpSession({
        ...session,
        connect: (watch) => stdioLink({ ...config, confinement }, watch, log),
        release,
      })
    }
    const server = { ...config, url: new URL(config.url).href }
    return await openMcpSession({
      ...session,
      connect: (watch) => httpLink(server, { egress, deadlineMs }, watch),
      release: () => {},
    })
  }

  /** Takes a place among the running programs. */
  async #placed(tenantId: string): Promise<void> {
    try {
      await this.#programs.enter(tenantId)
    } catch (cause) {
      throw new McpError(
        'refused',
        'too many programs of MCP servers run in this process; try again later',
        'not_done',
        { cause },
      )
    }
  }
}

export const createMcpClient = (options: McpClientOptions): McpClient =>
  new ClientOfServers(options)
