/**
 * Servers that say anything: each question gets an answer or an `McpError`, and no call is sent
 * twice.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createLog } from '#kernel/log'
import { type McpClient, type McpConnection, McpError } from '#port/mcp-client/client'
import { createMcpClient } from '#port/mcp-client/open'
import { confinementRefusal } from '#port/mcp-client/stdio/confinement'
import { egressTo } from '#test/support/http/egress'
import { never } from '#test/support/mcp/desk'
import {
  type FakeMcp,
  initialized,
  type Message,
  openHttpMcp,
  openLineMcp,
  relayTo,
  result,
  tool,
  type Wire,
} from '#test/support/mcp/fake-mcp'
import { use } from '#test/support/use'

const honest: Record<string, unknown> = {
  initialize: initialized,
  'tools/list': { tools: [tool()] },
  'tools/call': { content: [{ type: 'text', text: 'ok' }] },
}

const names = fc.constantFrom(
  'jsonrpc',
  'id',
  'method',
  'params',
  'result',
  'error',
  'code',
  'message',
  'content',
  'tools',
  '_meta',
  '__proto__',
)
const junk = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any')),
    fc.dictionary(names, tie('any')),
  ),
})).any
const methods = fc.constantFrom(
  'ping',
  'sampling/createMessage',
  'notifications/cancelled',
  'notifications/progress',
  'tools/call',
  'x',
)

type Frame =
  | { say: 'junk' | 'result' | 'error'; value: unknown }
  | { say: 'request'; method: string; id: unknown; value: unknown }
  | { say: 'bytes'; bytes: Uint8Array }
  | { say: 'honest' | 'done' | 'cut' }

const frame: fc.Arbitrary<Frame> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Frame>({ say: 'honest' }) },
  fc.record({
    say: fc.constantFrom('junk', 'result', 'error'),
    value: junk,
  }) as fc.Arbitrary<Frame>,
  fc.record({
    say: fc.constant('request'),
    method: methods,
    id: fc.oneof(fc.integer(), fc.string(), fc.constant(undefined)),
    value: junk,
  }) as fc.Arbitrary<Frame>,
  fc.record({
    say: fc.constant('bytes'),
    bytes: fc.uint8Array({ maxLength: 60 }),
  }) as fc.Arbitrary<Frame>,
  fc.constantFrom<Frame>({ say: 'done' }, { say: 'cut' }),
)

const say = (each: Frame, message: Message, wire: Wire): void => {
  const { id } = message
  if (each.say === 'honest') wire.say(result(message, honest[message.method ?? '']))
  else if (each.say === 'junk') wire.say(each.value)
  else if (each.say === 'request')
    wire.say({ jsonrpc: '2.0', id: each.id, method: each.method, params: each.value })
  else if (each.say === 'bytes') wire.raw(Buffer.from(each.bytes))
  else if ('value' in each) wire.say({ jsonrpc: '2.0', id, [each.say]: each.value })
  else wire[each.say]()
}

const AT_ONCE = 6

const cases = (fake: FakeMcp, sessions: number, configOf: () => McpConnection): void => {
  test('says what became of each call', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const config = configOf()
    const clientWithin = (deadlineMs: number) =>
      createMcpClient({
        egress: egressTo(`http://127.0.0.1:${fake.port}`),
        programs: config.transport === 'stdio' ? [{ ...config, env: [] }] : [],
        home: '/nowhere',
        log: createLog('silent'),
        version: '0',
        deadlineMs,
      })
    const scripts = fc.sample(fc.array(frame, { maxLength: 6 }), { seed, numRuns: sessions * 10 })
    for (const method of Object.keys(honest)) {
      fake.on[method] = (message, wire) => {
        // Most are opened, so that more is tried than that.
        const script =
          method === 'initialize' && message.id === 0 && scripts.length % 4 > 0
            ? []
            : (scripts.pop() ?? [])
        for (const each of script) say(each, message, wire)
        if (script.length === 0) say({ say: 'honest' }, message, wire)
        wire.done()
      }
    }
    const notDone: string[] = []
    const wrong: unknown[] = []
    let key = 0
    const session = async (client: McpClient): Promise<void> => {
      const noted = (cause: unknown) => void (cause instanceof McpError || wrong.push(cause))
      const server = await client.open(config, { signal: never(), tenantId: 'w' }).catch(noted)
      if (!server) return
      await server.list().catch(noted)
      for (let call = 0; call < 2; call++) {
        const idempotencyKey = `step-${key++}`
        await server.call('echo', {}, { idempotencyKey, signal: never() }).catch((cause) => {
          noted(cause)
          if (cause.outcome === 'not_done') notDone.push(idempotencyKey)
        })
      }
      await server.close()
    }
    const some = async (deadlineMs: number) => {
      const client = clientWithin(deadlineMs)
      await Promise.all(Array.from({ length: AT_ONCE }, () => session(client)))
    }
    for (let round = 0; round < sessions / AT_ONCE; round++) await some(500)
    const calls = () => fake.of('tools/call')
    // Where a program takes longer than that to start, no call has been made yet.
    for (let withinMs = 1_000; calls().length === 0 && withinMs < 10_000; withinMs *= 2)
      await some(withinMs)
    const arrived = calls().map(
      ({ params }) => (params!._meta as Record<string, string>)['tendril/idempotency-key']!,
    )
    expect({ seed, wrong }).toEqual({ seed, wrong: [] })
    expect({ seed, arrived: arrived.length }).toEqual({ seed, arrived: new Set(arrived).size })
    expect({ seed, both: arrived.filter((each) => notDone.includes(each)) }).toEqual({
      seed,
      both: [],
    })
    expect(arrived.length).toBeGreaterThan(0)
  })
}

describe('over HTTP', () => {
  const fake = use(openHttpMcp)
  cases(fake, 60, () => ({
    transport: 'streamable_http',
    url: `http://127.0.0.1:${fake.port}/`,
    headers: {},
  }))
})

const refusal = confinementRefusal('/nowhere', 'all')

describe.skipIf(refusal !== undefined)(`as programs${refusal ? ` (${refusal})` : ''}`, () => {
  const fake = use(openLineMcp)
  // A session is a program: what both transports share is tried over HTTP.
  cases(fake, 24, () => ({ transport: 'stdio', ...relayTo(fake.port), env: {} }))
})
