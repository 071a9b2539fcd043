/** Who may connect channels, what a change of one keeps, and what of it other workspaces see. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import { eventually } from '#test/support/app'
import { CHANNEL_SECRET, channelAdmin } from '#test/support/channels/channels'
import { signedIn, tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()

const place = async () => {
  const { tenantId } = await app.newWorkspace()
  return { tenantId, ...(await channelAdmin(app, tenantId)) }
}

const body = () => ({ channel: 'dev', routingKey: newId(), credentials: { secret: CHANNEL_SECRET } })

describe('a person', () => {
  const roles: [Role, number][] = [
    ['owner', 201],
    ['approver', 201],
    ['editor', 403],
    ['viewer', 403],
  ]
  test.each(roles)('who is %s gets %d for connecting a channel, and sees those that there are', async (role, status) => {
    const { tenantId, active } = await place()
    const id = await active()
    const key = await tokenOf(app, tenantId, role)
    const send = (method: string, path: string, more: { body?: unknown } = {}) =>
      app.send(method, `/api/v1/channels${path}`, { key, ...more })
    expect((await send('POST', '', { body: body() })).status).toBe(status)
    const usual = status === 201 ? 200 : 403
    expect((await send('PATCH', `/${id}`, { body: { displayName: 'Mine' } })).status).toBe(usual)
    expect((await send('POST', `/${id}/check`)).status).toBe(usual)
    const [listed, one] = [await send('GET', ''), await send('GET', `/${id}`)]
    expect([listed.status, one.status, one.body.connection.displayName]).toEqual([
      200,
      200,
      usual === 200 ? 'Mine' : expect.stringContaining('Dev'),
    ])
    expect((await send('DELETE', `/${id}`)).status).toBe(usual)
  })

  test('of another workspace finds nothing', async () => {
    const [{ active, get }, other] = [await place(), await place()]
    const id = await active()
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['POST', '/check'],
      ['DELETE', ''],
    ] as const) {
      const { status } = await other.send(method, `channels/${id}${path}`, method === 'PATCH' ? { displayName: 'Taken' } : undefined)
      expect([method, status]).toEqual([method, 404])
    }
    const listed = (await other.send('GET', 'channels')).body
    expect([listed.connections, listed.adapters.filter(({ configured }: { configured: boolean }) => configured)]).toEqual([[], []])
    expect(await get(id)).toMatchObject({ status: 'active' })
  })

  test('of nowhere gets 401', async () => {
    for (const [method, path] of [
      ['GET', '/api/v1/channels'],
      ['POST', '/api/v1/channels'],
      ['PATCH', `/api/v1/channels/${newId()}`],
      ['DELETE', `/api/v1/channels/${newId()}`],
    ] as const)
      expect([method, (await app.send(method, path, { key: null, ...(method === 'GET' ? {} : { body: {} }) })).status]).toEqual([
        method,
        401,
      ])
  })

  test('with a key needs the scope of the agent', async () => {
    const { tenantId } = await place()
    const { api_key: narrow } = await app.newKey(['api:read', 'api:write'], tenantId)
    expect((await app.send('GET', '/api/v1/channels', { key: narrow })).status).toBe(403)
    const { api_key: key } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
    expect((await app.send('POST', '/api/v1/channels', { key, body: body() })).status).toBe(201)
  })
})

describe('a change', () => {
  test('of nothing changes nothing, and of one field leaves the others', async () => {
    const { active, get, send } = await place()
    const id = await active({ displayName: 'Desk', config: { team: 'shop', list: [1] } })
    const before = await get(id)
    const patched = async (body: object) => (await send('PATCH', `channels/${id}`, body)).body.connection
    expect(await patched({})).toEqual({ ...before, updatedAt: expect.any(String) })
    expect(await patched({ senderPolicy: 'anyone' })).toEqual({ ...before, senderPolicy: 'anyone', updatedAt: expect.any(String) })
    expect(await patched({ config: { list: null, more: { deep: true } } })).toMatchObject({
      config: { team: 'shop', more: { deep: true } },
    })
    expect(await patched({ displayName: ' Help ' })).toMatchObject({ displayName: 'Help', senderPolicy: 'anyone', status: 'active' })
  })

  const wrong: [string, object, string][] = [
    ['another channel', { channel: 'sms' }, 'channel'],
    ['another routing key', { routingKey: 'x' }, 'routingKey'],
    ['a policy that there is not', { senderPolicy: 'nobody' }, 'senderPolicy'],
    ['a blank name', { displayName: ' ' }, 'displayName'],
    ['a configuration that is a list', { config: [] }, 'config'],
    ['a value that the adapter refuses', { config: { url: 'http://10.0.0.1/' } }, 'config.url'],
    ['a credential that is a number', { credentials: { secret: 1 } }, 'credentials.secret'],
    ['a credential that the channel does not know', { credentials: { sceret: 'x'.repeat(32) } }, 'credentials.sceret'],
    ['an empty credential', { credentials: { secret: '' } }, 'credentials.secret'],
  ]
  test.each(wrong)('to %s is refused, by the name of the field', async (_, patch, path) => {
    const { active, get, send } = await place()
    const id = await active()
    const before = await get(id)
    const { status, body } = await send('PATCH', `channels/${id}`, patch)
    expect([status, body.error.details?.[0]?.path]).toEqual([400, path])
    expect(await get(id)).toEqual(before)
  })

  test('that repeats what was shown changes no credential', async () => {
    const { active, get, send } = await place()
    const id = await active()
    const { credentials, config, displayName, senderPolicy, checkedAt } = await get(id)
    expect((await send('PATCH', `channels/${id}`, { credentials, config, displayName, senderPolicy })).status).toBe(200)
    const after = await eventually(
      () => get(id),
      (now) => now.checkedAt !== checkedAt,
    )
    expect(after).toMatchObject({ status: 'active', credentials: { secret: '…' } })
  })
})

describe('what opens a channel to people outside', () => {
  const callers = ['an owner', 'a key', 'an approver', 'a key of an approver'] as const
  type Caller = (typeof callers)[number]

  const callersOf = async () => {
    const { tenantId, active, get } = await place()
    const [owner, approver] = [await signedIn(app, tenantId, 'owner'), await signedIn(app, tenantId, 'approver')]
    const scopes = ['api:read', 'api:write', 'workspace:use'] as const
    const ofApprover = await app.send('POST', '/api/v1/app/keys', { key: approver.key, body: { name: 'a script', scopes } })
    const keys: Record<Caller, string> = {
      'an owner': owner.key,
      'a key': (await app.newKey([...scopes], tenantId)).api_key,
      'an approver': approver.key,
      'a key of an approver': ofApprover.body.api_key,
    }
    const send = (by: Caller, method: string, path: string, body: object) =>
      app.send(method, `/api/v1/channels${path}`, { key: keys[by], body })
    return { send, active, get }
  }

  const auto = { config: { reply: 'auto' } }
  const anyone = { senderPolicy: 'anyone' }
  const cases: [string, { before?: Record<string, unknown>; change: object; may: readonly Caller[]; names: string }][] = [
    ['serving anybody', { change: anyone, may: ['an owner', 'a key'], names: 'senderPolicy' }],
    ['answers that nobody reads', { change: auto, may: ['an owner'], names: 'config.reply' }],
    ['both', { change: { ...anyone, ...auto }, may: ['an owner'], names: 'config.reply' }],
    ['serving anybody, where answers are not read', { before: auto, change: anyone, may: ['an owner'], names: 'config.reply' }],
    ['answers that nobody reads, where anybody is served', { before: anyone, change: auto, may: ['an owner'], names: 'config.reply' }],
    ['another name, where both is so', { before: { ...anyone, ...auto }, change: { displayName: 'Desk' }, may: callers, names: '' }],
    ['members alone, where anybody is served', { before: anyone, change: { senderPolicy: 'members' }, may: callers, names: '' }],
    ['answers that wait', { before: { ...anyone, ...auto }, change: { config: { reply: 'hold' } }, may: callers, names: '' }],
    ['answers that wait as usual', { before: { ...anyone, ...auto }, change: { config: { reply: null } }, may: callers, names: '' }],
  ]
  test.each(cases)('%s is for owners, and what nobody reads for those who have signed in', async (_, { before, change, may, names }) => {
    const { send, active, get } = await callersOf()
    for (const by of callers) {
      const id = await active(before)
      const shown = await get(id)
      const { status, body: said } = await send(by, 'PATCH', `/${id}`, change)
      expect([by, status]).toEqual([by, may.includes(by) ? 200 : 403])
      if (status === 200) continue
      expect(said.error.message).toStartWith(names)
      expect(await get(id)).toEqual(shown)
    }
    if (before) return
    for (const by of callers) {
      const { status } = await send(by, 'POST', '', { ...body(), ...change })
      expect([by, status]).toEqual([by, may.includes(by) ? 201 : 403])
    }
  })
})
