/** Messages to and from a program, one per line. */
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { cleanText } from '#domain/agent/mcp/foreign-text'
import type { Log } from '#kernel/log'
import { McpError } from '../client.ts'
import type { SessionTransport, SessionWatch } from '../guard.ts'
import type { Confinement } from './confinement.ts'
import { type Program, startProgram } from './supervisor.ts'

export interface StdioServer {
  command: string
  args: readonly string[]
  env: Record<string, string>
  confinement: Confinement
}

/** How much a session's program may write to the log, in bytes. */
const LONGEST_COMPLAINT = 4_096
/** A shorter value is no secret and would be found everywhere. */
const SHORTEST_SECRET = 4

/** Cuts what arrives into lines, without scanning the same bytes twice. */
class Lines {
  #parts: Buffer[] = []

  clear(): void {
    this.#parts = []
  }

  *cut(chunk: Buffer): Generator<string> {
    let rest = chunk
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield Buffer.concat([...this.#parts, rest.subarray(0, end)]).toString()
      this.#parts = []
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) this.#parts.push(rest)
  }
}

class StdioLink implements SessionTransport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  readonly #lines = new Lines()
  readonly #complaint: Buffer[] = []
  #program: Program | undefined
  #stopping: Promise<void> | undefined
  #isOver = false

  constructor(
    private readonly server: StdioServer,
    private readonly watch: SessionWatch,
    private readonly log: Log,
  ) {}

  async start(): Promise<void> {
    try {
      this.#program = startProgram(this.server)
    } catch (cause) {
      throw new McpError('unreachable', 'the program could not be started', 'not_done', { cause })
    }
    const { stdout, stderr, ended } = this.#program
    stdout.on('data', (chunk: Buffer) => this.#received(chunk))
    stderr.on('data', (chunk: Buffer) => this.#complained(chunk))
    // The last output may only be read after the program has ended.
    const silent = new Promise((resolve) => stdout.on('close', resolve))
    void Promise.all([ended, silent]).then(([status]) => this.#ended(status))
  }

  #received(chunk: Buffer): void {
    if (this.#isOver) return
    this.watch.read(chunk.length)
    for (const line of this.#lines.cut(chunk)) {
      if (this.#isOver) return
      this.#said(line)
    }
  }

  #said(line: string): void {
    try {
      this.onmessage?.(parseJSONRPCMessage(JSON.parse(line)))
    } catch {
      this.onerror?.(new Error('the program wrote what is no message'))
    }
  }

  #complained(chunk: Buffer): void {
    const left = LONGEST_COMPLAINT - this.#complaint.reduce((sum, { length }) => sum + length, 0)
    if (left > 0) this.#complaint.push(chunk.subarray(0, left))
  }

  #ended(status: number | null): void {
    if (this.#isOver) return
    this.watch.fail(
      new McpError(
        'closed',
        `the program ended${status === null ? '' : ` with status ${status}`}`,
        'unknown',
      ),
    )
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isOver || !this.#program)
      throw new McpError('closed', 'the program has ended', 'not_done')
    this.#program.stdin.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#lines.clear()
    this.#stopping = this.#program?.stop()
    this.onclose?.()
  }

  async end(): Promise<void> {
    await this.#stopping
    this.#report()
  }

  /** Reports once, when everything has arrived, because a secret may come in pieces. */
  #report(): void {
    const text = Buffer.concat(this.#complaint.splice(0)).toString()
    if (text.trim() === '') return
    const secrets = Object.values(this.server.env).filter(({ length }) => length >= SHORTEST_SECRET)
    const said = secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text)
    this.log.info({ from: 'mcp', program: this.server.command }, cleanText(said, LONGEST_COMPLAINT))
  }
}

export const stdioLink = (server: StdioServer, watch: SessionWatch, log: Log): SessionTransport =>
  new StdioLink(server, watch, log)
