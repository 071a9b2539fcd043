/** Owners connect and disconnect accounts. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { newStory } from '#test/support/growth/story'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()

const PATH = '/api/v1/app/connections'

/** The workspace of a story, with a signed-in owner. */
const ownedStory = async () => {
  const story = await newStory(app)
  const { key } = await signedIn(app, story.tenantId)
  const connect = (body: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    app.send('POST', `${PATH}/sandbox`, { key, body, headers })
  const disconnect = (id: string) => app.send('DELETE', `${PATH}/${id}`, { key })
  const listed = async () => (await app.send('GET', 'connections', { key })).body.connections
  return { story, connect, disconnect, listed }
}

describe('connecting to the sandbox', () => {
  test('makes an account, named after the workspace by default, and the default account if there is none', async () => {
    const { story, connect, disconnect, listed } = await ownedStory()
    const [first] = await listed()
    const second = await connect()
    expect([second.status, second.text]).toEqual([201, expect.any(String)])
    const handle = `workspace-${story.tenantId.slice(-12)}`
    expect(second.body.connection).toMatchObject({
      connected: true,
      account: { handle, network: 'sandbox', is_default: false },
    })
    await disconnect(first.id)
    expect(
      (await connect({ handle: `h-${story.tenantId}` })).body.connection.account,
    ).toMatchObject({ is_default: true })
    expect(await listed()).toHaveLength(2)
    const [row] =
      await app.owner`select ref_id, detail from audit where tenant_id = ${story.tenantId}
      and operation = 'app.connections.connectSandbox' order by id limit 1`
    expect({ ...row }).toEqual({
      ref_id: second.body.connection.account.id,
      detail: { network: 'sandbox', handle },
    })
  })

  test('a second time brings the same account back, under the same id', async () => {
    const { connect, disconnect, listed } = await ownedStory()
    const [{ id, handle, external_id }] = await listed()
    await disconnect(id)
    expect(await listed()).toEqual([])
    const { account } = (await connect({ handle: `@${handle.toUpperCase()}` })).body.connection
    expect(account).toMatchObject({ id, external_id, status: 'connected', is_default: true })
    expect((await connect({ handle })).body.connection.account).toMatchObject({
      id,
      is_default: true,
    })
    expect(await listed()).toHaveLength(1)
  })

  test('refuses an invalid handle', async () => {
    const { connect } = await ownedStory()
    const reply = await connect({ handle: 'no handle' })
    expect([reply.status, reply.body.error?.code]).toEqual([400, 'invalid_input'])
  })

  test('stops at fifty accounts, but lets one of them connect again', async () => {
    const { story, connect, listed } = await ownedStory()
    const [{ handle }] = await listed()
    await app.owner`insert into connection (id, tenant_id, network, external_id, handle, status,
      created_at, updated_at)
      select gen_random_uuid(), ${story.tenantId}, 'sandbox', n::text, n::text, 'connected', now(),
        now() from generate_series(1, 49) n`
    const refused = await connect({ handle: `h-${story.tenantId}` })
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict'])
    expect((await connect({ handle })).status).toBe(201)
  })

  test('makes at most a thousand accounts for a workspace, however many were disconnected', async () => {
    const { story, connect } = await ownedStory()
    await app.owner`insert into sandbox.accounts (workspace_id, handle)
      select ${story.tenantId}, 'known_' || n from generate_series(2, 1000) n`
    const refused = await connect({ handle: 'one_more' })
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict'])
    expect(refused.body.error?.message).toContain('1000 accounts')
    expect((await connect({ handle: 'known_7' })).status).toBe(201)
  })

  test('changes nothing and says so when the network cannot be reached', async () => {
    const { story, connect, listed } = await ownedStory()
    await app.owner`revoke insert on sandbox.accounts from tendril_sandbox`
    try {
      const reply = await connect({ handle: `h-${story.tenantId}` }, { 'idempotency-key': 'one' })
      expect([reply.status, reply.body.error?.message]).toEqual([502, 'network_error:unreachable'])
    } finally {
      await app.owner`grant insert on sandbox.accounts to tendril_sandbox`
    }
    expect(await listed()).toHaveLength(1)
    expect(
      (await connect({ handle: `h-${story.tenantId}` }, { 'idempotency-key': 'one' })).status,
    ).toBe(201)
  })
})

test('an account belongs to one workspace: the same handle in another workspace is another account, with posts of its own', async () => {
  const [mine, theirs] = [await ownedStory(), await ownedStory()]
  const handle = `acme-${newId()}`
  const connect = async (story: typeof mine) =>
    (await story.connect({ handle })).body.connection.account
  const [own, other] = [await connect(mine), await connect(theirs)]
  expect([own.handle, other.handle]).toEqual([handle, handle])
  expect(other.external_id).not.toBe(own.external_id)
  const { sandbox } = app.workplace
  const account = (of: typeof own) => ({ id: newId(), externalId: of.external_id, handle })
  const request = {
    account: account(own),
    text: 'Said by the first.',
    attemptId: newId(),
    key: null,
    madeAt: new Date(),
    deadlineMs: 5_000,
  }
  expect(await sandbox.publish(request, AbortSignal.timeout(30_000))).toMatchObject({
    kind: 'posted',
  })
  const timeline = async (of: typeof own) =>
    (await sandbox.readTimeline(account(of), new Date(0), AbortSignal.timeout(30_000))).posts.map(
      ({ text }) => text,
    )
  expect([await timeline(own), await timeline(other)]).toEqual([['Said by the first.'], []])
})
