import { expect, test } from 'bun:test'
import { soleKey } from '#kernel/secret-keys'
import { createNodeClient, nodeSignature, type RemoteCommand } from '#port/nodes'
import { eventually } from '#test/support/eventually'

test('commands of one workspace on their way to another process leave room for those of others, and the kill switch waits for none', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const arrived: string[] = []
  using server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { operation, call } = (await request.json()) as RemoteCommand
      arrived.push(`${call.tenantId} ${operation}`)
      if (call.tenantId === 'flood' && operation !== 'pause') await held
      return Response.json({ answer: { status: 200, body: '{}' } })
    },
  })
  const nodes = createNodeClient(nodeSignature(soleKey(Buffer.alloc(32, 1)), () => Date.now()))
  const send = (tenantId: string, operation: string, urgent = false) => {
    const call = {
      principal: { kind: 'system', id: 'test' } as const,
      scopes: [],
      surface: 'rest',
      requestId: 'r',
      idempotencyKey: 'k',
    }
    return nodes.send(
      server.url.href,
      { operation, input: {}, call: { ...call, tenantId } },
      { isAlive: async () => true, urgent },
    )
  }
  const flood = Promise.all(Array.from({ length: 600 }, () => send('flood', 'write')))
  await eventually(
    () => arrived.length,
    (count) => count === 160,
  )
  expect((await send('other', 'write')).status).toBe(200)
  expect((await send('flood', 'pause', true)).status).toBe(200)
  expect(arrived.filter((one) => one === 'flood write')).toHaveLength(160)
  release()
  expect(await flood).toHaveLength(600)
  expect(arrived).toHaveLength(602)
})
