/** Shared by the tests of sessions with MCP servers. */
import { afterEach } from 'bun:test'
import type { ForeignAnswer } from '#domain/agent/mcp/foreign-result'
import { type McpClientSession, McpError } from '#port/mcp-client/client'
import type { FakeMcp, Message, Wire } from './fake-mcp.ts'

interface OpenOptions {
  deadlineMs?: number
  signal?: AbortSignal
}

/** A server and a way to open sessions with it over one transport. */
export interface McpDesk {
  fake: FakeMcp
  open(options?: OpenOptions): Promise<McpClientSession>
}

/** A desk for a suite. Whatever a test opens is closed after it, and its scripts are forgotten. */
export interface McpTrial extends McpDesk {
  /** Of the transport. */
  name: string
  call(
    server: McpClientSession,
    args?: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<ForeignAnswer>
  /** The answer to a method. */
  on(method: string, script: (message: Message, wire: Wire) => void): void
  /** The same, in one message. */
  whole(method: string, answer: (message: Message) => unknown): void
}

export const MIB = 1_048_576

/** Enough for an honest answer on a busy machine. */
export const SHORT_MS = 1_500

export const never = (): AbortSignal => new AbortController().signal

export const errorOf = async (running: Promise<unknown>): Promise<McpError> => {
  const cause = await running.then(
    (value) => value,
    (thrown) => thrown,
  )
  if (cause instanceof McpError) return cause
  throw new Error(`expected an McpError, not ${JSON.stringify(cause)} ${cause}`)
}

export const outcomeOf = async (running: Promise<unknown>): Promise<string> => {
  const { failure, outcome } = await errorOf(running)
  return `${failure}, ${outcome}`
}

export const notice = (method: string, params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  method,
  params,
})
export const asks = (id: string, method: string) => ({ jsonrpc: '2.0', id, method, params: {} })

let key = 0

export const useTrial = (name: string, { fake, open }: McpDesk): McpTrial => {
  const opened: McpClientSession[] = []
  afterEach(async () => {
    fake.on = {}
    await Promise.all(opened.splice(0).map((server) => server.close()))
    fake.messages.length = 0
  })
  const on: McpTrial['on'] = (method, script) => {
    fake.on[method] = script
  }
  return {
    fake,
    name,
    on,
    async open(options) {
      const server = await open(options)
      opened.push(server)
      return server
    },
    call: (server, args = { text: 'hi' }, signal = never()) =>
      server.call('echo', args, { idempotencyKey: `step-${++key}`, signal }),
    whole: (method, answer) =>
      on(method, (message, wire) => {
        wire.say(answer(message))
        wire.done()
      }),
  }
}
