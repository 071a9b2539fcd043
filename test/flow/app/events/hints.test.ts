/** Hints of what changes in a workspace: who gets which, and how their streams end. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import { makeConversation } from '#test/support/agent/records'
import { eventually } from '#test/support/app'
import { followHints, type HintClient, openHints } from '#test/support/http/hint-stream'
import { type SignedIn, signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp({ overrides: { streamTimes: { commentMs: 100, lookMs: 20 } } })
const quiet = useApp(() => ({ database: app.options }))

const ROLES: readonly Role[] = ['owner', 'approver', 'editor', 'viewer']
const people = new Map<Role, SignedIn>()
let reader = ''
let narrow = ''

beforeAll(async () => {
  for (const role of ROLES) people.set(role, await signedIn(app, app.tenantId, role))
  reader = (await app.newKey(['api:read', 'workspace:use'])).api_key
  narrow = (await app.newKey(['api:read'])).api_key
})

/** Something that all are told of. Returns its id. */
const learn = async (key: string, server = app): Promise<string> => {
  const body = { kind: 'worked', note: newId() }
  const reply = await server.send('POST', 'learnings', { key, body })
  expect(reply.status).toBe(201)
  return reply.body.learning.id
}

const keyOf = (role: Role): string => people.get(role)!.key

/** Streams of everybody, and the last change, of which all are told. */
const everybody = async () => {
  const callers: [string, string][] = [
    ...ROLES.map((role): [string, string] => [role, keyOf(role)]),
    ['key', reader],
    ['narrow key', narrow],
  ]
  const streams = await Promise.all(
    callers.map(
      async ([name, key]): Promise<[string, HintClient]> => [
        name,
        await followHints(app.url, { key }),
      ],
    ),
  )
  const stack = new AsyncDisposableStack()
  for (const [, stream] of streams) stack.use(stream)
  /** Resolves once all have been told of something later. */
  const settled = async () => {
    const open = await app.send('POST', '/api/v1/agent/conversations', {
      key: keyOf('viewer'),
      body: {},
    })
    const id = await learn(app.key)
    for (const [name, stream] of streams) {
      await stream.until(({ data }) => data.id === id)
      // Of conversations, whose readers are looked up, those who read them are told later.
      if (name !== 'narrow key')
        await stream.until(({ data }) => data.id === open.body.conversation.id)
    }
  }
  const those = (were: (stream: HintClient) => boolean) =>
    streams.filter(([, stream]) => were(stream)).map(([name]) => name)
  return {
    async toldOf(what: string): Promise<string[]> {
      await settled()
      return those((stream) => stream.hints().some((hint) => hint.what === what))
    },
    /** A stream begins with it. */
    async toldToReadAgain(): Promise<string[]> {
      await settled()
      return those(({ events }) => events.filter(({ type }) => type === 'resync').length > 1)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

describe('who is told', () => {
  test('of an item, everybody who reads items, once, and by whom it was made', async () => {
    await using stream = await followHints(app.url, { key: keyOf('viewer') })
    const { body } = await app.send('POST', 'items', { key: keyOf('editor'), body: { body: 'x' } })
    await stream.until(({ data }) => data.id === body.item.id)
    expect(stream.events[0]).toMatchObject({ type: 'resync', data: {} })
    const hints = stream.hints().filter(({ what }) => what === 'growth.items.create')
    expect(hints).toEqual([
      {
        what: 'growth.items.create',
        kind: 'item',
        id: body.item.id,
        by: { kind: 'person', id: people.get('editor')!.personId },
      },
    ])
  })

  test('of keys, members and the workspace, owners alone; of the agent, no key without its scope', async () => {
    await using all = await everybody()
    const key = keyOf('owner')
    const send = (method: string, path: string, body: object) =>
      app.send(method, path, { key, body })
    await send('POST', '/api/v1/app/keys', { name: 'new', scopes: ['api:read'] })
    await send('PUT', '/api/v1/app/workspace', { name: 'Test' })
    await send('POST', '/api/v1/agent/conversations', {})
    await send('POST', 'sandbox/posts', { text: 'x', resident: 'late_freight_lena' })
    expect(await all.toldOf('app.keys.create')).toEqual(['owner'])
    expect(await all.toldOf('app.workspace.rename')).toEqual(['owner'])
    expect(await all.toldOf('agent.conversations.create')).toEqual([...ROLES, 'key'])
    expect(await all.toldOf('growth.sandbox.post')).toEqual([...ROLES, 'key', 'narrow key'])
  })

  test('of a private conversation, only those who see it', async () => {
    const { personId: person_id } = people.get('editor')!
    const people_ = [people.get('viewer')!.personId]
    const { id } = await makeConversation(
      { app, tenantId: app.tenantId },
      { visibility: 'private', person_id, people: people_ },
    )
    await using all = await everybody()
    const renamed = await app.send('PATCH', `/api/v1/agent/conversations/${id}`, {
      key: keyOf('editor'),
      body: { title: 'Ours' },
    })
    expect(renamed.status).toBe(200)
    expect(await all.toldOf('agent.conversations.update')).toEqual(['editor', 'viewer'])
  })

  test('to read again, those whose sight of a conversation has changed, and nobody else', async () => {
    const { personId: starter } = people.get('editor')!
    const { id } = await makeConversation(
      { app, tenantId: app.tenantId },
      { person_id: starter, people: [people.get('viewer')!.personId] },
    )
    const change = async (method: string, path: string, body?: object) => {
      await using all = await everybody()
      const of = `/api/v1/agent/conversations/${id}${path}`
      const { status } = await app.send(method, of, { key: keyOf('editor'), body: body ?? {} })
      expect(status).toBe(200)
      return await all.toldToReadAgain()
    }
    const approver = `/people/${people.get('approver')!.personId}`
    expect(await change('PATCH', '', { title: 'Seen by all' })).toEqual([])
    expect(await change('PUT', approver)).toEqual([])
    expect(await change('DELETE', approver)).toEqual([])
    const others = ['owner', 'approver', 'key']
    expect(await change('PATCH', '', { visibility: 'private' })).toEqual(others)
    expect(await change('PATCH', '', { title: 'Seen by few' })).toEqual([])
    expect(await change('PUT', approver)).toEqual(['approver'])
    expect(await change('DELETE', approver)).toEqual(['approver'])
    expect(await change('PATCH', '', { visibility: 'workspace' })).toEqual(others)
  })

  test('nobody of another workspace', async () => {
    const other = await app.newWorkspace()
    await using stream = await followHints(app.url, { key: other.key })
    await learn(app.key)
    const id = await learn(other.key)
    await stream.until(({ data }) => data.id === id)
    expect(stream.hints()).toHaveLength(1)
  })

  test('a key without api:read is refused', async () => {
    const { api_key: key } = await app.newKey(['api:write'])
    await using stream = await openHints(app.url, { key })
    expect(stream.response.status).toBe(403)
  })
})

test('without the Accept header, the answer says to read again', async () => {
  const { status, body } = await app.send('GET', '/api/v1/app/events')
  expect([status, body]).toEqual([200, { resync: true }])
})

describe('a stream ends', () => {
  const ends = async (key: string, change: () => ReturnType<typeof app.send>) => {
    await using stream = await followHints(app.url, { key })
    const { comments } = stream
    await eventually(
      () => stream.comments,
      (count) => count > comments,
    )
    expect((await change()).status).toBeLessThan(300)
    await stream.ended()
  }

  test('of a member who was removed, whose role has changed, or whose session has ended', async () => {
    const [removed, changed, out] = await Promise.all(
      ['editor', 'editor', 'viewer'].map((role) => signedIn(app, app.tenantId, role as Role)),
    )
    const owner = keyOf('owner')
    await ends(removed!.key, () =>
      app.send('DELETE', `/api/v1/app/members/${removed!.personId}`, { key: owner }),
    )
    await ends(changed!.key, () =>
      app.send('PUT', `/api/v1/app/members/${changed!.personId}`, {
        key: owner,
        body: { role: 'viewer' },
      }),
    )
    await ends(out!.key, () => app.send('DELETE', '/api/v1/app/session', { key: out!.key }))
  })

  test('of a session that moved to another workspace', async () => {
    const { tenantId } = await app.newWorkspace()
    const { key, personId } = await signedIn(app, app.tenantId)
    await app.owner`insert into member (tenant_id, person_id, role)
      values (${tenantId}, ${personId}, 'owner')`
    await ends(key, () =>
      app.send('POST', '/api/v1/app/session/workspace', { key, body: { workspace_id: tenantId } }),
    )
  })

  test('when its workspace has left the process', async () => {
    await using stream = await followHints(app.url, { key: reader })
    app.workplace.hints.left(app.tenantId)
    await stream.ended()
  })
})

test('a stream goes on with a session whose access token has ended', async () => {
  const { sessionId, personId } = people.get('viewer')!
  // A token's end is cut to whole seconds, and on a busy machine the stream opens late.
  const soon = new Date(Date.now() + 4_000)
  const key = await app.workplace.world.identity.tokens.access({ sessionId, personId }, soon)
  await using stream = await followHints(app.url, { key })
  const status = async () => (await app.send('GET', 'items', { key })).status
  expect(await eventually(status, (now) => now === 401)).toBe(401)
  const { comments } = stream
  await eventually(
    () => stream.comments,
    (count) => count > comments,
  )
  const id = await learn(app.key)
  await stream.until(({ data }) => data.id === id)
})

test('a workspace that nobody owns is taken by the process that is asked for its hints', async () => {
  const { key, tenantId } = await app.newWorkspace()
  await app.owner`update actor set owner = null where tenant_id = ${tenantId}`
  await app.owner`update actor set epoch = epoch + 1 where tenant_id = ${tenantId}`
  await using stream = await followHints(quiet.url, { key })
  expect(quiet.workplace.runtime.owns(tenantId)).toBe(true)
  const id = await learn(key)
  await stream.until(({ data }) => data.id === id)
})

/** A client that stops reading once the stream has begun. */
const openAndPause = async (key: string) => {
  const { port, hostname } = new URL(quiet.url)
  const read = { text: '' }
  const { promise, resolve } = Promise.withResolvers<Socket>()
  const socket = connect(Number(port), hostname, () => {
    socket.write(
      `GET /api/v1/app/events HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream\r\n\r\n`,
    )
  })
  socket.on('data', (piece) => {
    read.text += piece.toString('latin1')
    if (read.text.length < 2_000) socket.pause()
    if (read.text.includes('resync')) resolve(socket)
  })
  return { socket: await promise, read }
}

test('a client that reads too slowly is told to read again, and its stream goes on', async () => {
  const { tenantId, key } = await quiet.newWorkspace()
  const slow = await openAndPause(key)
  await using quick = await followHints(quiet.url, { key })
  const by = { kind: 'key', id: 'x'.repeat(4_000) }
  // More than the buffers of the system hold.
  for (let sent = 0; sent < 2_000; sent++) {
    const id = `${sent}`
    quiet.workplace.hints.tell(tenantId, [{ what: 'test', kind: 'item', id, by }])
    if (sent % 20 === 19) await quick.until(({ data }) => data.id === id)
  }
  slow.socket.resume()
  const count = () => slow.read.text.split('event: resync').length - 1
  expect(await eventually(count, (resyncs) => resyncs >= 2)).toBeGreaterThanOrEqual(2)
  const last = await learn(key, quiet)
  expect(await eventually(() => slow.read.text.includes(last), Boolean)).toBe(true)
  expect(slow.read.text).not.toContain('"id":"1999"')
  slow.socket.destroy()
}, 60_000)
