/** Servers that are programs: as a client opens and calls them. */
import { describe, expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { type ConfinedProgram, createMcpClient } from '#port/mcp-client/open'
import { confinementRefusal } from '#port/mcp-client/stdio/confinement'
import { mcpCases } from '#test/cases/mcp-server'
import { eventually } from '#test/support/eventually'
import { egressTo } from '#test/support/http/egress'
import { errorOf, never, outcomeOf } from '#test/support/mcp/desk'
import { openLineMcp, relayTo } from '#test/support/mcp/fake-mcp'
import { use } from '#test/support/use'

const clientOf = (
  programs: ConfinedProgram[],
  { log = createLog('silent'), deadlineMs = 20_000 } = {},
) =>
  createMcpClient({
    egress: egressTo(),
    programs,
    home: '/nowhere',
    log,
    version: '0',
    deadlineMs,
  })

const refusal = confinementRefusal('/nowhere', 'all')

describe.skipIf(refusal !== undefined)(`programs${refusal ? ` (${refusal})` : ''}`, () => {
  const fake = use(openLineMcp)

  mcpCases('stdio', {
    fake,
    open({ deadlineMs, signal = never() } = {}) {
      const program = { ...relayTo(fake.port), env: [] }
      return clientOf([program], { deadlineMs }).open(
        { transport: 'stdio', ...program, env: {} },
        { signal, tenantId: 'w' },
      )
    },
  })

  test('a program that does not exist is told as such', async () => {
    const missing = { command: '/no/such/program', args: [], env: [] }
    const { failure, outcome, message } = await errorOf(
      clientOf([missing]).open(
        { transport: 'stdio', ...missing, env: {} },
        { signal: never(), tenantId: 'w' },
      ),
    )
    expect([failure, outcome, message]).toEqual([
      'closed',
      'not_done',
      'the program ended with status 127',
    ])
  })

  test('a program that ends after its list is started anew for a call', async () => {
    const program = { ...relayTo(fake.port), env: [] }
    const server = await clientOf([program]).open(
      { transport: 'stdio', ...program, env: {} },
      { signal: never(), tenantId: 'w' },
    )
    await server.list()
    for (const socket of fake.sockets) socket.destroy()
    await eventually(
      () => fake.sockets.size,
      (size) => size === 0,
    )
    const call = () => server.call('echo', {}, { idempotencyKey: 'step', signal: never() })
    // Whether its end is noticed before the call or with it.
    const answer = await call().catch((cause) => cause.failure)
    expect(['closed', { text: '{}', isError: false }]).toContainEqual(answer)
    expect((await call()).text).toBe('{}')
    await server.close()
    expect(await outcomeOf(call())).toBe('closed, not_done')
  })

  test('a program may complain in the log, briefly and without its secrets', async () => {
    const lines: string[] = []
    const log = createLog('info', { write: (line: string) => void lines.push(line) })
    const loud =
      'printf "token %s " "$NOTES_TOKEN" >&2; n=0; while [ $n -lt 2000 ]; do echo complaint-$n >&2; n=$((n + 1)); done; exit 1'
    const program = { command: 'sh', args: ['-c', loud], env: ['NOTES_TOKEN'] }
    await errorOf(
      clientOf([program], { log }).open(
        { transport: 'stdio', ...program, env: { NOTES_TOKEN: 'top-secret' } },
        { signal: never(), tenantId: 'w' },
      ),
    )
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('token [redacted] complaint-0')
    expect(lines[0]).not.toContain('top-secret')
    expect((JSON.parse(lines[0]!).msg as string).length).toBeLessThanOrEqual(4_096)
  })

  test('a program waits for a place among those of its workspace that run, while another workspace has places of its own', async () => {
    const program = { ...relayTo(fake.port), env: [] }
    const client = clientOf([program])
    const open = (tenantId: string) =>
      client.open({ transport: 'stdio', ...program, env: {} }, { signal: never(), tenantId })
    const servers = await Promise.all(Array.from({ length: 6 }, () => open('one')))
    let isOpen = false
    const seventh = open('one').then((server) => {
      isOpen = true
      return server
    })
    const other = await open('other')
    expect([isOpen, fake.sockets.size]).toEqual([false, 7])
    for (const server of servers) await server.close()
    const all = [other, await seventh]
    await eventually(
      () => fake.sockets.size,
      (size) => size === 2,
    )
    await Promise.all(all.map((server) => server.close()))
  })
})
