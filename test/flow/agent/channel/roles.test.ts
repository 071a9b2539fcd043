/** What a change of a channel keeps, and who may open one to people outside. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { eventually } from '#test/support/app'
import { CHANNEL_SECRET, channelAdmin } from '#test/support/channels/channels'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const place = async () => {
  const { tenantId } = await app.newWorkspace()
  return { tenantId, ...(await channelAdmin(app, tenantId)) }
}

const body = () => ({
  channel: 'dev',
  routingKey: newId(),
  credentials: { secret: CHANNEL_SECRET },
})

test('no adapter is configured for another workspace', async () => {
  const [{ active }, other] = [await place(), await place()]
  await active()
  const { adapters } = (await other.send('GET', 'channels')).body
  expect(adapters.filter(({ configured }: { configured: boolean }) => configured)).toEqual([])
})

describe('a change', () => {
  test('of nothing changes nothing, and of one field leaves the others', async () => {
    const { active, get, send } = await place()
    const id = await active({ displayName: 'Desk', config: { team: 'shop', list: [1] } })
    const before = await get(id)
    const patched = async (body: object) =>
      (await send('PATCH', `channels/${id}`, body)).body.connection
    expect(await patched({})).toEqual({ ...before, updatedAt: expect.any(String) })
    expect(await patched({ senderPolicy: 'anyone' })).toEqual({
      ...before,
      senderPolicy: 'anyone',
      updatedAt: expect.any(String),
    })
    expect(await patched({ config: { list: null, more: { deep: true } } })).toMatchObject({
      config: { team: 'shop', more: { deep: true } },
    })
    expect(await patched({ displayName: ' Help ' })).toMatchObject({
      displayName: 'Help',
      senderPolicy: 'anyone',
      status: 'active',
    })
  })

  test('to a value that the adapter refuses is refused, by the name of the field', async () => {
    const { active, get, send } = await place()
    const id = await active()
    const before = await get(id)
    const change = { config: { url: 'http://10.0.0.1/' } }
    const { status, body } = await send('PATCH', `channels/${id}`, change)
    expect([status, body.error.details?.[0]?.path]).toEqual([400, 'config.url'])
    expect(await get(id)).toEqual(before)
  })

  test('that repeats what was shown changes no credential', async () => {
    const { active, get, send } = await place()
    const id = await active()
    const { credentials, config, displayName, senderPolicy, checkedAt } = await get(id)
    expect(
      (await send('PATCH', `channels/${id}`, { credentials, config, displayName, senderPolicy }))
        .status,
    ).toBe(200)
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
    const [owner, approver] = [
      await signedIn(app, tenantId, 'owner'),
      await signedIn(app, tenantId, 'approver'),
    ]
    const scopes = ['api:read', 'api:write', 'workspace:use'] as const
    const ofApprover = await app.send('POST', '/api/v1/app/keys', {
      key: approver.key,
      body: { name: 'a script', scopes },
    })
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
  const cases: [
    string,
    { before?: Record<string, unknown>; change: object; may: readonly Caller[]; names: string },
  ][] = [
    ['serving anybody', { change: anyone, may: ['an owner', 'a key'], names: 'senderPolicy' }],
    ['answers that nobody reads', { change: auto, may: ['an owner'], names: 'config.reply' }],
    ['both', { change: { ...anyone, ...auto }, may: ['an owner'], names: 'config.reply' }],
    [
      'serving anybody, where answers are not read',
      { before: auto, change: anyone, may: ['an owner'], names: 'config.reply' },
    ],
    [
      'answers that nobody reads, where anybody is served',
      { before: anyone, change: auto, may: ['an owner'], names: 'config.reply' },
    ],
    [
      'another name, where both is so',
      { before: { ...anyone, ...auto }, change: { displayName: 'Desk' }, may: callers, names: '' },
    ],
    [
      'members alone, where anybody is served',
      { before: anyone, change: { senderPolicy: 'members' }, may: callers, names: '' },
    ],
    [
      'answers that wait',
      {
        before: { ...anyone, ...auto },
        change: { config: { reply: 'hold' } },
        may: callers,
        names: '',
      },
    ],
    [
      'answers that wait as usual',
      {
        before: { ...anyone, ...auto },
        change: { config: { reply: null } },
        may: callers,
        names: '',
      },
    ],
  ]
  test.each(cases)(
    '%s is for owners, and what nobody reads for those who have signed in',
    async (_, { before, change, may, names }) => {
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
    },
  )
})
