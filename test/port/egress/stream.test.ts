/** Responses that are read as they arrive, and whether anything of their requests was sent. */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createEgress, type EgressRequest, NotConnected } from '#port/egress/egress'
import { EgressRefused } from '#port/egress/target'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

/** Answers each connection with what `speak` writes. */
const openServer = async () => {
  const sockets = new Set<Socket>()
  const state = { requests: [] as string[], speak: (_: Socket): void => {} }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    socket.once('data', (bytes) => {
      state.requests.push(bytes.toString())
      state.speak(socket)
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    state,
    sockets,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}

const server = use(openServer)

const HEAD = 'HTTP/1.1 200 OK\r\nx-a: b\r\ntransfer-encoding: chunked\r\n\r\n'
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

const egress = (allow: string[] = [], more: Partial<Parameters<typeof createEgress>[0]> = {}) =>
  createEgress({
    rules: { allow: new Set([`127.0.0.1:${server.port}`, ...allow]), own: new Set() },
    ...more,
  })

const request = (more: Partial<EgressRequest> = {}): EgressRequest => ({
  url: `http://127.0.0.1:${server.port}/`,
  method: 'POST',
  headers: {},
  body: '{}',
  deadlineMs: 5_000,
  maxBytes: 1_000,
  ...more,
})

const open = async (speak: (socket: Socket) => void, more: Partial<EgressRequest> = {}) => {
  server.state.speak = speak
  return await egress().open(request(more))
}

const failureOf = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => 'none',
    (cause) => cause,
  )

const textOf = async ({ body }: { body: ReadableStream<Uint8Array> }): Promise<string> => {
  let text = ''
  for await (const bytes of body) text += new TextDecoder().decode(bytes)
  return text
}

describe('a body', () => {
  test('is read while it arrives', async () => {
    let socket: Socket | undefined
    const answer = await open((accepted) => {
      socket = accepted
      accepted.write(HEAD + chunk('one'))
    })
    expect([answer.status, answer.headers['x-a']]).toEqual([200, 'b'])
    const reader = answer.body.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('one')
    socket!.end(`${chunk('two')}0\r\n\r\n`)
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('two')
    expect((await reader.read()).done).toBe(true)
  })

  test('may have the most bytes, and no more', async () => {
    expect(
      await textOf(
        await open((socket) => socket.end(`${HEAD}${chunk('x'.repeat(1_000))}0\r\n\r\n`)),
      ),
    ).toHaveLength(1_000)
    const long = open((socket) => socket.end(`${HEAD}${chunk('x'.repeat(1_001))}0\r\n\r\n`)).then(
      textOf,
    )
    expect(await failureOf(long)).toMatchObject({ name: 'TooLong' })
  })

  test('that breaks off fails', async () => {
    const cut = await failureOf(open((socket) => socket.end(HEAD + chunk('half'))).then(textOf))
    expect(cut).toBeInstanceOf(Error)
  })

  test('that does not end in time fails, and ends the connection', async () => {
    const answer = await open((socket) => socket.write(HEAD + chunk('half')), { deadlineMs: 1_500 })
    expect(await failureOf(textOf(answer))).toMatchObject({ name: 'TimeoutError' })
    await eventually(
      async () => server.sockets.size,
      (size) => size === 0,
    )
  })

  test('fails with the reason of the caller who stops', async () => {
    const stopped = new AbortController()
    const answer = await open((socket) => socket.write(HEAD + chunk('half')), {
      signal: stopped.signal,
    })
    const reading = failureOf(textOf(answer))
    stopped.abort(new Error('stopping'))
    expect(await reading).toMatchObject({ message: 'stopping' })
  })

  test('that is cancelled ends the connection', async () => {
    const answer = await open((socket) => socket.write(HEAD + chunk('half')))
    await answer.body.cancel()
    await eventually(
      async () => server.sockets.size,
      (size) => size === 0,
    )
  })

  test('that nobody reads is not read from the network', async () => {
    let written = 0
    const answer = await open(
      (socket) => {
        const more = () => {
          while (written < 64_000_000 && socket.write('x'.repeat(64_000))) written += 64_000
        }
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 64000000\r\n\r\n')
        socket.on('drain', more)
        more()
      },
      { maxBytes: 100_000_000 },
    )
    const reader = answer.body.getReader()
    await reader.read()
    // What the two systems buffer is far less than all of it.
    await Bun.sleep(1_000)
    expect(written).toBeLessThan(32_000_000)
    await reader.cancel()
  })
})

describe('nothing was sent', () => {
  const notConnected = async (running: Promise<unknown>) => {
    const cause = await failureOf(running)
    expect(cause).toBeInstanceOf(NotConnected)
    return (cause as NotConnected).cause
  }

  test('if nothing listens', async () => {
    expect(
      await notConnected(egress(['127.0.0.1:1']).open(request({ url: 'http://127.0.0.1:1/' }))),
    ).toMatchObject({
      code: 'ECONNREFUSED',
    })
  })

  test('if the name is not found, or not in time', async () => {
    const missing = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    const url = 'https://missing.example.com/'
    expect(
      await notConnected(
        egress([], { resolve: () => Promise.reject(missing) }).open(request({ url })),
      ),
    ).toBe(missing)
    const hanging = egress([], { resolve: () => new Promise(() => {}) })
    expect(await notConnected(hanging.open(request({ url, deadlineMs: 50 })))).toMatchObject({
      name: 'TimeoutError',
    })
  })

  test('if the caller had stopped already', async () => {
    const before = server.state.requests.length
    expect(
      await notConnected(egress().open(request({ signal: AbortSignal.abort(new Error('over')) }))),
    ).toMatchObject({ message: 'over' })
    expect(server.state.requests.length).toBe(before)
  })

  test('if the address is refused', async () => {
    expect(await failureOf(egress().open(request({ url: 'https://127.0.0.1/' })))).toBeInstanceOf(
      EgressRefused,
    )
    const inside = egress([], { resolve: async () => [{ address: '10.0.0.1', family: 4 }] })
    expect(
      await failureOf(inside.open(request({ url: 'https://inside.example.com/' }))),
    ).toBeInstanceOf(EgressRefused)
  })

  test('if the certificate is not trusted', async () => {
    const pem = (kind: string) =>
      readFileSync(`test/data/tls/hooks.example.com.${kind}.pem`, 'utf8')
    let requests = 0
    const tls = createTlsServer({ key: pem('key'), cert: pem('cert') }, (_, response) => {
      requests++
      response.end('ok')
    })
    await new Promise<void>((done) => tls.listen(0, '127.0.0.1', done))
    const { port } = tls.address() as AddressInfo
    const url = `https://hooks.example.com:${port}/`
    const rules = { allow: new Set([`hooks.example.com:${port}`]), own: new Set<string>() }
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    expect(
      await notConnected(createEgress({ rules, resolve }).open(request({ url }))),
    ).toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
    expect(requests).toBe(0)
    expect(
      await textOf(await createEgress({ rules, resolve, ca: pem('cert') }).open(request({ url }))),
    ).toBe('ok')
    expect(requests).toBe(1)
    await new Promise((done) => tls.close(done))
  })
})

test('what a server does not answer may have been done', async () => {
  const cause = await failureOf(open((socket) => socket.end()))
  expect(cause).not.toBeInstanceOf(NotConnected)
  const late = await failureOf(open(() => {}, { deadlineMs: 100 }))
  expect(late).toMatchObject({ name: 'TimeoutError' })
})

test('a session can be deleted', async () => {
  const answer = await open((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'), {
    method: 'DELETE',
    body: '',
  })
  expect([answer.status, await textOf(answer)]).toEqual([204, ''])
  expect(server.state.requests.at(-1)).toStartWith('DELETE / HTTP/1.1\r\n')
})
