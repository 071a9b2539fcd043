/** A client of invented MCP servers: each has the tools that it is given, and counts its calls. */
import type { ForeignAnswer } from '#domain/agent/mcp/foreign-result'
import { type McpClient, type McpConnection, McpError } from '#port/mcp-client/client'
import { egressTo } from '../http/egress.ts'

export interface FakeTool {
  name: string
  title?: string
  description?: string
  inputSchema?: Record<string, unknown>
  annotations?: Record<string, unknown>
}

export interface FakeCall {
  name: string
  args: Record<string, unknown>
  key: string
}

export interface FakeMcp extends McpClient {
  tools: FakeTool[]
  /** The calls that were sent. */
  calls: FakeCall[]
  /** The options that each session was opened with. */
  opened: McpConnection[]
  /** The answer to a call. */
  answer(call: FakeCall): Promise<ForeignAnswer>
  /** Nobody answers. */
  isDown: boolean
  sessions: number
}

export const SEARCH: FakeTool = {
  name: 'search',
  description: 'Searches the shop.',
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to look for.' } },
    required: ['query'],
  },
  annotations: { readOnlyHint: true },
}

const egress = egressTo()

const requireAllowed = (config: McpConnection): void => {
  if (config.transport === 'stdio')
    throw new McpError('refused', 'the operator does not allow this command (MCP_STDIO)')
  try {
    egress.check(config.url)
  } catch (cause) {
    throw new McpError('refused', (cause as Error).message)
  }
}

/** `tools`: the tools of every server. */
export const fakeMcp = (tools: FakeTool[] = [SEARCH]): FakeMcp => {
  const fake: FakeMcp = {
    tools,
    calls: [],
    opened: [],
    isDown: false,
    sessions: 0,
    answer: async ({ name }) => ({ text: `answer of ${name}`, isError: false }),
    check: (config) => requireAllowed(config),
    async open(config) {
      if (fake.isDown) throw new McpError('unreachable', 'the server does not answer')
      fake.opened.push(config)
      fake.sessions++
      return {
        toolsChanged: false,
        info: { name: 'fake', version: '1', protocol: '2025-11-25' },
        list: async () => ({ tools: structuredClone(fake.tools), isCut: false }),
        async call(name, args, { idempotencyKey: key }) {
          const call = { name, args, key }
          fake.calls.push(call)
          return fake.answer(call)
        },
        async close() {
          fake.sessions--
        },
      }
    },
  }
  return fake
}
