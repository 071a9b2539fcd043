/** What providers say of connections, and which workspace gets a routing key. */
import { afterEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { newId } from '#kernel/ids'
import { eventually } from '#test/support/app'
import { CHANNEL_SECRET, channelAdmin } from '#test/support/channels/channels'
import { checkedChannels } from '#test/support/channels/checked'
import { useApp } from '#test/support/use'

const channels = checkedChannels(['dev', 'whatsapp'])
const app = useApp({ overrides: { channels: channels.replace } })
afterEach(() => {
  channels.answer = () => ({ kind: 'proven' })
})

const place = async () => {
  const { tenantId } = await app.newWorkspace()
  return { tenantId, ...(await channelAdmin(app, tenantId)) }
}

const routes = async (id: string): Promise<string[]> =>
  (
    await app.owner<
      { kind: string }[]
    >`select kind from inbound_route where ref_id = ${id} order by kind`
  ).map(({ kind }) => kind)

const failings = (tenantId: string) =>
  app.owner<
    { data: Record<string, unknown> }[]
  >`select data from outbox where tenant_id = ${tenantId} and type = 'agent.channel.failing'`

/** Answers nothing until it is let go. */
const held = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  channels.answer = async () => {
    await promise
    return { kind: 'proven' }
  }
  return {
    release: resolve,
    /** Once it was asked about all of these. */
    arrived: (...ids: string[]) =>
      eventually(
        () => channels.asked.map(({ id }) => id),
        (asked) => ids.every((id) => asked.includes(id)),
      ),
  }
}

describe('a provider', () => {
  test('that cannot be reached is asked again, and at once if somebody wants it', async () => {
    const { send, get, connect, checked } = await place()
    channels.answer = () => ({ kind: 'unreachable', error: 'timed out' })
    const id = await connect()
    expect(
      await eventually(
        () => get(id),
        ({ lastError }) => lastError !== null,
      ),
    ).toMatchObject({
      status: 'unverified',
      lastError: 'timed out',
      checkedAt: null,
    })
    const [again] = await app.owner`select w.run_at > c.updated_at as is_later, w.state from work w
      join channel_connection c on c.id = w.ref_id where c.id = ${id}`
    expect(again).toEqual({ is_later: true, state: 'queued' })
    channels.answer = () => ({ kind: 'proven' })
    expect((await send('POST', `channels/${id}/check`)).status).toBe(200)
    expect(await checked(id)).toMatchObject({ status: 'active', lastError: null })
    expect(
      await eventually(
        () => app.owner`select 1 from work where ref_id = ${id}`,
        (rows) => rows.length === 0,
      ),
    ).toHaveLength(0)
  })

  test('that falls silent leaves a proven connection active', async () => {
    const { send, get, active } = await place()
    const id = await active()
    channels.answer = () => Promise.reject(new Error('the adapter is broken'))
    expect((await send('POST', `channels/${id}/check`)).status).toBe(200)
    const after = await eventually(
      () => get(id),
      ({ lastError }) => lastError !== null,
    )
    expect([after.status, after.lastError, await routes(id)]).toEqual([
      'active',
      'the channel could not be checked',
      ['dev'],
    ])
  })

  test('tells what is kept in the configuration, beside what was given', async () => {
    const { active, get, send } = await place()
    channels.answer = () => ({ kind: 'proven', learned: { botUserId: 'U1' } })
    const id = await active({ config: { team: 'shop' } })
    expect((await get(id)).config).toEqual({ team: 'shop', botUserId: 'U1' })
    await send('PATCH', `channels/${id}`, { config: { team: null } })
    expect(
      await eventually(
        () => get(id),
        ({ config }) => !('team' in (config as object)),
      ),
    ).toMatchObject({ config: { botUserId: 'U1' } })
  })

  test('is asked again if the credentials change while it is asked', async () => {
    const { connect, send, checked } = await place()
    const { release, arrived } = held()
    const id = await connect()
    await arrived(id)
    const secret = `${CHANNEL_SECRET}2`
    expect((await send('PATCH', `channels/${id}`, { credentials: { secret } })).status).toBe(200)
    const asked = () => channels.asked.filter((one) => one.id === id).at(-1)!
    expect(asked().credentials).toEqual({ secret: CHANNEL_SECRET })
    release()
    expect(await checked(id)).toMatchObject({ status: 'active' })
    expect(asked().credentials).toEqual({ secret })
  })

  test('that refuses new credentials ends the route; the webhook is told once, and the old ones bring it back', async () => {
    const { tenantId, active, send, get } = await place()
    const id = await active()
    channels.answer = ({ credentials }) =>
      credentials.secret === CHANNEL_SECRET
        ? { kind: 'proven' }
        : { kind: 'refused', error: `invalid_auth for ${credentials.secret}` }
    for (const secret of ['another-secret-1', 'another-secret-2']) {
      const before = (await get(id)).checkedAt
      const { body } = await send('PATCH', `channels/${id}`, { credentials: { secret } })
      expect(body.connection.lastError).toBeNull()
      const after = await eventually(
        () => get(id),
        ({ checkedAt, lastError }) => checkedAt !== before && lastError !== null,
      )
      expect(after).toMatchObject({
        status: 'failing',
        lastError: 'invalid_auth for [a credential]',
      })
      expect(await routes(id)).toEqual([])
    }
    const told = await failings(tenantId)
    expect(told.map(({ data }) => data)).toEqual([
      {
        connection_id: id,
        channel: 'dev',
        routing_key: expect.any(String),
        display_name: expect.any(String),
        error: expect.any(String),
      },
    ])
    await send('PATCH', `channels/${id}`, { credentials: { secret: CHANNEL_SECRET } })
    await eventually(
      () => get(id),
      ({ status }) => status === 'active',
    )
    expect(await routes(id)).toEqual(['dev'])
  })

  test('of WhatsApp finds its challenge by the present verify token, and no longer by the one before', async () => {
    const { active, send, get } = await place()
    const credentials = {
      accessToken: 'token-of-a-system-user',
      appSecret: 'secret-of-the-app',
      verifyToken: `first-${newId()}`,
    }
    const id = await active({ channel: 'whatsapp', routingKey: String(Date.now()), credentials })
    const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')
    const keys = async () =>
      (
        await app.owner<
          { key: string }[]
        >`select key from inbound_route where ref_id = ${id} and kind = 'whatsapp_challenge'`
      ).map(({ key }) => key)
    expect(await keys()).toEqual([hashOf(credentials.verifyToken)])
    const verifyToken = `second-${newId()}`
    const before = (await get(id)).checkedAt
    await send('PATCH', `channels/${id}`, { credentials: { verifyToken } })
    await eventually(
      () => get(id),
      ({ checkedAt }) => checkedAt !== before,
    )
    expect(await keys()).toEqual([hashOf(verifyToken)])
    await send('DELETE', `channels/${id}`)
    expect(await routes(id)).toEqual([])
  })
})

describe('a routing key', () => {
  test('that two workspaces prove at once goes to one of them, and to the other when it is free again', async () => {
    const [one, two, three] = [await place(), await place(), await place()]
    const routingKey = newId()
    const { release, arrived } = held()
    const ids = await Promise.all([one.connect({ routingKey }), two.connect({ routingKey })])
    await arrived(...ids)
    release()
    const after = await Promise.all([one.checked(ids[0]!), two.checked(ids[1]!)])
    expect(after.map(({ status }) => status).sort()).toEqual(['active', 'failing'])
    const lost = after.findIndex(({ status }) => status === 'failing')
    expect(after[lost]).toMatchObject({ lastError: 'another workspace has connected this channel' })
    const [winner, loser] = lost === 0 ? [two, one] : [one, two]
    expect([await routes(ids[1 - lost]!), await routes(ids[lost]!)]).toEqual([['dev'], []])
    expect(await failings(loser.tenantId)).toHaveLength(1)
    expect(await failings(winner.tenantId)).toHaveLength(0)

    const late = await three.send('POST', 'channels', {
      channel: 'dev',
      routingKey,
      credentials: { secret: CHANNEL_SECRET },
    })
    expect([late.status, late.body.error.code]).toEqual([409, 'conflict'])
    expect((await winner.send('DELETE', `channels/${ids[1 - lost]}`)).status).toBe(200)
    expect((await loser.send('POST', `channels/${ids[lost]}/check`)).status).toBe(200)
    await eventually(
      () => loser.get(ids[lost]!),
      ({ status }) => status === 'active',
    )
    expect(await routes(ids[lost]!)).toEqual(['dev'])
  })

  test('that a workspace asks for ten times at once is connected once', async () => {
    const { send } = await place()
    const body = { channel: 'dev', routingKey: newId(), credentials: { secret: CHANNEL_SECRET } }
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send('POST', 'channels', body)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array.from({ length: 9 }, () => 409),
    ])
    expect((await send('GET', 'channels')).body.connections).toHaveLength(1)
  })

  test('that another workspace only claims, unproven, keeps nobody out', async () => {
    const [squatter, owner] = [await place(), await place()]
    const routingKey = newId()
    expect((await squatter.send('POST', 'channels', { channel: 'dev', routingKey })).status).toBe(
      201,
    )
    const id = await owner.active({ routingKey })
    expect(await routes(id)).toEqual(['dev'])
  })

  test('is one of its channel alone, in the form that posts have it', async () => {
    const { connect, send } = await place()
    await connect({ channel: 'slack', routingKey: ' t012ab3cd ', credentials: {} })
    const same = await send('POST', 'channels', { channel: 'slack', routingKey: 'T012AB3CD' })
    expect([same.status, same.body.error.message]).toEqual([
      409,
      expect.stringContaining('connected already'),
    ])
    await connect({ channel: 'dev', routingKey: 'T012AB3CD' })
    const wrong = await send('POST', 'channels', { channel: 'slack', routingKey: 'C012' })
    expect([wrong.status, wrong.body.error.details[0].path]).toEqual([400, 'routingKey'])
  })
})

test('a workspace has at most 20 channels', async () => {
  const { send } = await place()
  const add = () => send('POST', 'channels', { channel: 'dev', routingKey: newId() })
  for (let count = 0; count < 20; count++) expect((await add()).status).toBe(201)
  expect(await add()).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('20 channels') } },
  })
})
