import { describe, expect, test } from 'bun:test'
import { createServer, connect as dial, type Socket } from 'node:net'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { type NetworkAccount, NetworkError } from '#port/network/network'
import { parseFaults } from '#port/network/sandbox/faults'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { createSandbox } from '#port/network/sandbox/sandbox'
import type { ConnectionOptions } from '#store/engine/db'
import { use } from '#test/support/use'
import { eventually, never, openSandboxWorld, publish } from './sandbox-world.ts'

const world = use(openSandboxWorld)

/** A sandbox whose store connects with these options. */
const sandboxBy = (options: ConnectionOptions) => {
  const store = openSandboxStore(options)
  const sandbox = createSandbox({ store, faults: parseFaults(''), log: createLog('silent') })
  return { sandbox, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}

/** What happens to a connection once the client sends a message that contains a certain text. */
type Fate = 'request lost' | 'answer lost' | 'silence'

interface Relay extends AsyncDisposable {
  options: ConnectionOptions
  /** Strikes the next connection that carries `text`, once. */
  strike(fate: Fate, text: string): void
}

/** A relay between client and database that can be cut at a chosen message. */
const openRelay = async (target: ConnectionOptions): Promise<Relay> => {
  let armed: { fate: Fate; text: string } | undefined
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    const { host = '', port = 5432 } = target
    const upstream = keep(
      host.startsWith('/') ? dial(`${host}/.s.PGSQL.${port}`) : dial(port, host),
    )
    let fate: Fate | undefined
    const cut = () => [client, upstream].map((socket) => socket.destroy())
    keep(client).on('close', cut)
    upstream.on('close', cut)
    client.on('data', (bytes) => {
      if (armed && bytes.includes(armed.text)) {
        fate = armed.fate
        armed = undefined
      }
      if (fate === 'request lost') cut()
      else if (fate !== 'silence') upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (fate === 'answer lost') cut()
      else if (fate === undefined) client.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    options: { ...target, host: '127.0.0.1', port },
    strike: (fate, text) => {
      armed = { fate, text }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('no database', () => {
  /** Options with a port on which nothing listens any more. */
  const deadOptions = async (): Promise<ConnectionOptions> => {
    await using relay = await openRelay(world.options)
    return { ...relay.options }
  }

  test('a publish provably sends nothing', async () => {
    await using it = sandboxBy(await deadOptions())
    expect(await publish(it.sandbox, await world.newAccount(), { text: 'Hello?' })).toMatchObject({
      kind: 'not_applied',
      reason: 'unreachable',
    })
  })

  test('a read and a connect reject as unreachable', async () => {
    await using it = sandboxBy(await deadOptions())
    const account = await world.newAccount()
    const attempts = [
      it.sandbox.readTimeline(account, new Date(0), never()),
      it.sandbox.connect(newId(), 'nobody'),
    ]
    for (const result of await Promise.allSettled(attempts)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { reason: 'unreachable' } })
      expect(result.status === 'rejected' && result.reason instanceof NetworkError).toBe(true)
    }
  })
})

describe('a connection that breaks', () => {
  test('after the post was applied: the answer proves nothing, and the post exists', async () => {
    await using relay = await openRelay(world.options)
    await using it = sandboxBy(relay.options)
    const account = await world.newAccount()
    const text = `Applied ${newId()}`
    relay.strike('answer lost', text)
    expect(await publish(it.sandbox, account, { text })).toMatchObject({ kind: 'unknown' })
    await eventually(async () => (await world.postsOf(account)).length === 1)
  })

  test('before the post arrived: the answer is the same, and no post exists', async () => {
    await using relay = await openRelay(world.options)
    await using it = sandboxBy(relay.options)
    const account = await world.newAccount()
    const text = `Lost ${newId()}`
    relay.strike('request lost', text)
    expect(await publish(it.sandbox, account, { text })).toMatchObject({ kind: 'unknown' })
    expect(await world.postsOf(account)).toEqual([])
  })

  test('before another publish: that one gets a new connection', async () => {
    await using relay = await openRelay(world.options)
    await using it = sandboxBy(relay.options)
    const account = await world.newAccount()
    relay.strike('request lost', 'First.')
    await publish(it.sandbox, account, { text: 'First.' })
    expect(await publish(it.sandbox, account, { text: 'Second.' })).toMatchObject({
      kind: 'posted',
    })
    expect(await world.postsOf(account)).toEqual(['Second.'])
  })
})

describe('a database that does not answer', () => {
  test('a publish is unknown once its caller gives up', async () => {
    await using relay = await openRelay(world.options)
    await using it = sandboxBy(relay.options)
    const account = await world.newAccount()
    relay.strike('silence', 'Anyone?')
    expect(
      await publish(it.sandbox, account, { text: 'Anyone?', signal: AbortSignal.timeout(50) }),
    ).toEqual({
      kind: 'unknown',
      reason: 'timeout',
      cause: 'no_answer',
    })
  })

  test('a read is unreachable once its caller gives up', async () => {
    await using relay = await openRelay(world.options)
    await using it = sandboxBy(relay.options)
    const account = await world.newAccount()
    relay.strike('silence', account.externalId)
    const read = it.sandbox.readTimeline(account, new Date(0), AbortSignal.timeout(50))
    expect(await read.catch((error: unknown) => error)).toMatchObject({
      name: 'NetworkError',
      reason: 'unreachable',
    })
  })
})

describe('a statement that the database stops', () => {
  /** Stops the backend of a publish that waits for a lock, and returns the publish's result. */
  const interrupted = async (
    account: NetworkAccount,
    stop: 'pg_cancel_backend' | 'pg_terminate_backend',
  ) => {
    const blocker = await world.admin.reserve()
    try {
      await blocker`begin`
      await blocker`lock table sandbox.accounts in access exclusive mode`
      const result = publish(world.sandbox(), account, { text: 'Waiting.' })
      await eventually(async () => {
        const stopped = await world.admin.unsafe(
          `select ${stop}(pid) from pg_stat_activity
           where datname = current_database() and application_name = 'tendril-sandbox' and wait_event_type = 'Lock'`,
        )
        return stopped.length > 0
      })
      return await result
    } finally {
      await blocker`rollback`
      blocker.release()
    }
  }

  test('with an error proves that nothing was posted', async () => {
    const account = await world.newAccount()
    expect(await interrupted(account, 'pg_cancel_backend')).toMatchObject({
      kind: 'not_applied',
      detail: '57014',
    })
    expect(await world.postsOf(account)).toEqual([])
  })

  test('with its connection proves nothing', async () => {
    const account = await world.newAccount()
    expect(await interrupted(account, 'pg_terminate_backend')).toMatchObject({ kind: 'unknown' })
    expect(await world.postsOf(account)).toEqual([])
    expect(await publish(world.sandbox(), account, { text: 'Again.' })).toMatchObject({
      kind: 'posted',
    })
  })
})
