/** The protocol's reference server, over both transports. */
import { describe, expect, test } from 'bun:test'
import { foreignTools } from '#domain/agent/mcp/foreign-tools'
import { createLog } from '#kernel/log'
import { createEgress } from '#port/egress/egress'
import type { McpClientSession } from '#port/mcp-client/client'
import { createMcpClient } from '#port/mcp-client/open'
import { never } from '#test/support/mcp/desk'
import { everythingProgram, openEverything, programRefusal } from '#test/support/mcp/everything'
import { use } from '#test/support/use'

const clientOf = (allow: string[] = []) =>
  createMcpClient({
    egress: createEgress({ rules: { allow: new Set(allow), own: new Set() } }),
    programs: [{ ...everythingProgram, env: ['EVERYTHING_NAME'] }],
    home: '/nowhere',
    log: createLog('silent'),
    version: '0',
  })

const casesOf = (open: () => Promise<McpClientSession>): void => {
  const session = use(async () => {
    const server = await open()
    return { server, [Symbol.asyncDispose]: () => server.close() }
  })
  const call = (name: string, args: Record<string, unknown>) =>
    session.server.call(name, args, { idempotencyKey: 'step', signal: never() })

  test('is opened', () => {
    expect(session.server.info).toMatchObject({
      name: 'mcp-servers/everything',
      protocol: '2025-11-25',
    })
  })

  test('has tools, all of which can be offered', async () => {
    const { tools, isCut } = await session.server.list()
    const offer = foreignTools('everything', tools)
    expect([isCut, offer.leftOut]).toEqual([false, []])
    expect(offer.tools.map(({ offered }) => offered)).toContain('everything__echo')
    expect(offer.tools.find(({ name }) => name === 'get-sum')?.parameters).toMatchObject({
      type: 'object',
      required: ['a', 'b'],
    })
  })

  test('has the same definitions each time', async () => {
    const hashes = async () =>
      foreignTools('everything', (await session.server.list()).tools).tools.map(({ hash }) => hash)
    expect(await hashes()).toEqual(await hashes())
  })

  test('answers', async () => {
    expect(await call('echo', { message: 'héllo' })).toEqual({
      text: 'Echo: héllo',
      isError: false,
    })
    expect((await call('get-sum', { a: 2, b: 40 })).text).toContain('42')
  })

  test('answers structured content', async () => {
    expect(
      JSON.parse((await call('get-structured-content', { location: 'New York' })).text),
    ).toMatchObject({
      temperature: expect.any(Number),
    })
  })

  test('answers images and resources, which are named', async () => {
    expect((await call('get-tiny-image', {})).text).toMatch(
      /\[image image\/png of \d+ bytes, left out\]/,
    )
    expect((await call('get-resource-links', { count: 2 })).text).toMatch(/\[link /)
  })

  test('answers what is wrong with arguments, and that a tool does not exist', async () => {
    expect(await call('get-sum', { a: 'two' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('Invalid'),
    })
    expect(await call('no-such-tool', {})).toMatchObject({
      isError: true,
      text: expect.stringContaining('no-such-tool'),
    })
  })

  test('answers after it has told of its progress', async () => {
    expect(
      (await call('trigger-long-running-operation', { duration: 1, steps: 4 })).text,
    ).toContain('completed')
  })
}

const refusal = programRefusal()

describe.skipIf(refusal !== undefined)(
  `the reference server as a program${refusal ? ` (${refusal})` : ''}`,
  () => {
    casesOf(() =>
      clientOf().open(
        { transport: 'stdio', ...everythingProgram, env: {} },
        { signal: never(), tenantId: 'w' },
      ),
    )
  },
)

describe('the reference server over HTTP', () => {
  const served = use(openEverything)

  casesOf(() => {
    const url = `http://127.0.0.1:${served.port}/mcp`
    return clientOf([`127.0.0.1:${served.port}`]).open(
      { transport: 'streamable_http', url, headers: {} },
      { signal: never(), tenantId: 'w' },
    )
  })
})
