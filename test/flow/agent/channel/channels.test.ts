/** Connections of channels: how they are made, proven and changed. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { eventually } from '#test/support/app'
import { CHANNEL_SECRET, channelAdmin } from '#test/support/channels/channels'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const place = async () => {
  const { tenantId } = await app.newWorkspace()
  return { tenantId, ...(await channelAdmin(app, tenantId)) }
}

describe('a connection', () => {
  test('is unverified until its provider has agreed, and active then', async () => {
    const { send, checked } = await place()
    const key = newId()
    const { status, body } = await send('POST', 'channels', {
      channel: 'dev',
      routingKey: key,
      displayName: ' Desk ',
      senderPolicy: 'anyone',
      config: { team: 'shop' },
      credentials: { secret: CHANNEL_SECRET },
    })
    expect([status, body.connection]).toMatchObject([
      201,
      {
        channel: 'dev',
        routingKey: key,
        displayName: 'Desk',
        senderPolicy: 'anyone',
        config: { team: 'shop' },
        credentials: { secret: '…' },
        status: 'unverified',
        lastError: null,
        checkedAt: null,
      },
    ])
    const active = await checked(body.connection.id)
    expect(active).toMatchObject({
      status: 'active',
      lastError: null,
      checkedAt: expect.any(String),
    })
    const [route] = await app.owner`select kind, ref_id from inbound_route where key = ${key}`
    expect(route).toEqual({ kind: 'dev', ref_id: body.connection.id })
    const listed = (await send('GET', 'channels')).body
    expect(listed.connections).toEqual([active])
    expect(
      listed.adapters.map(({ channel, configured }: { channel: string; configured: boolean }) => [
        channel,
        configured,
      ]),
    ).toEqual([
      ['email', false],
      ['slack', false],
      ['whatsapp', false],
      ['sms', false],
      ['dev', true],
    ])
  })

  test('without the credentials that it needs says which are missing, and is asked about once they are there', async () => {
    const { send, checked } = await place()
    const { status, body } = await send('POST', 'channels', { channel: 'dev', routingKey: newId() })
    const { id } = body.connection
    expect([status, body.connection]).toMatchObject([
      201,
      {
        status: 'unverified',
        lastError: 'credentials are missing: secret',
        senderPolicy: 'members',
        credentials: {},
        config: {},
      },
    ])
    expect((await send('POST', `channels/${id}/check`)).status).toBe(409)
    const patched = await send('PATCH', `channels/${id}`, {
      credentials: { secret: CHANNEL_SECRET },
    })
    expect([patched.status, patched.body.connection]).toMatchObject([
      200,
      { status: 'unverified', lastError: null },
    ])
    expect(await checked(id)).toMatchObject({ status: 'active' })
  })

  test('whose credentials are refused fails, and has no route', async () => {
    const { send, checked } = await place()
    const { body } = await send('POST', 'channels', {
      channel: 'dev',
      routingKey: newId(),
      credentials: { secret: 'short' },
    })
    const { id, routingKey } = body.connection
    expect(await checked(id)).toMatchObject({
      status: 'failing',
      lastError: expect.stringContaining('16 bytes'),
    })
    expect(await app.owner`select 1 from inbound_route where key = ${routingKey}`).toHaveLength(0)
  })

  test('goes with its route', async () => {
    const { send, active } = await place()
    const id = await active()
    expect((await send('DELETE', `channels/${id}`)).body.connection).toMatchObject({ id })
    expect((await send('DELETE', `channels/${id}`)).status).toBe(404)
    expect(await app.owner`select 1 from inbound_route where ref_id = ${id}`).toHaveLength(0)
    const work = () => app.owner`select 1 from work where ref_id = ${id}`
    expect(await eventually(work, (rows) => rows.length === 0)).toHaveLength(0)
  })
})

const routingKeys: [string, string, string][] = [
  ['email', 'Support@Example.com', 'support@example.com'],
  ['slack', 't012ab3cd', 'T012AB3CD'],
  ['whatsapp', '106540352242922', '106540352242922'],
  ['sms', '+1 (415) 555-0123', '+14155550123'],
  ['dev', 'Desk_1', 'Desk_1'],
]
test.each(routingKeys)(
  'of %s is made of nothing but its routing key, and says what is missing',
  async (channel, text, routingKey) => {
    const { send } = await place()
    const { status, body } = await send('POST', 'channels', { channel, routingKey: text })
    const { lastError, ...shown } = body.connection
    expect([status, shown]).toMatchObject([
      201,
      { channel, routingKey, status: 'unverified', credentials: {} },
    ])
    const { adapters } = (await send('GET', 'channels')).body
    const { credentials, setup } = adapters.find(
      (one: { channel: string }) => one.channel === channel,
    )
    const needed = credentials
      .filter((one: { needed: boolean }) => one.needed)
      .map(({ name }: { name: string }) => name)
    expect(lastError).toBe(`credentials are missing: ${needed.join(', ')}`)
    // What a person is told to find is what is asked for.
    for (const name of needed) expect(setup.steps.join('\n')).toContain(name)
    expect(
      (await send('POST', 'channels', { channel, routingKey: ` ${routingKey} ` })).status,
    ).toBe(409)
  },
)
