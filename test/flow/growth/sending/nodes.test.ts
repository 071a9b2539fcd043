import { expect, setSystemTime, test } from 'bun:test'
import { soleKey } from '#kernel/secret-keys'
import { LETTERS_PATH, nodeSignature } from '#port/nodes'
import { eventually, testApp } from '#test/support/app'
import { TEST_SECRET } from '#test/support/database/db'
import { setPlan } from '#test/support/database/writes'
import { newStory, textOf } from '#test/support/growth/story'
import { tokenOf } from '#test/support/session'
import { useApp, useSharedApp } from '#test/support/use'

const one = useSharedApp()
const other = useApp(() => ({ database: one.options }))

/** Sends a request to the other process, with the key of a workspace that the first one owns. */
const viaOther = (method: string, path: string, options: object = {}) =>
  other.send(method, path, { key: one.key, ...options })

const ownerOf = async (tenantId: string) =>
  (await one.owner`select owner, epoch from actor where tenant_id = ${tenantId}`)[0]

test('a command runs in the process that owns the workspace, whichever received it', async () => {
  await one.send('PUT', 'profile', { body: { goal: 'one' } })
  const before = await ownerOf(one.tenantId)
  const reply = await viaOther('PUT', 'profile', {
    body: { goal: 'through the other' },
    headers: { 'x-request-id': 'asked-the-other' },
  })
  expect([reply.status, reply.body.profile.goal]).toEqual([200, 'through the other'])
  expect(await ownerOf(one.tenantId)).toEqual(before)
  const [audit] =
    await one.owner`select request_id, surface from audit where tenant_id = ${one.tenantId}
      order by id desc limit 1`
  expect(audit).toEqual({ request_id: 'asked-the-other', surface: 'rest' })
})

test('errors come back unchanged', async () => {
  const refused = await viaOther('POST', 'items/00000000-0000-4000-8000-000000000000/approve')
  expect([refused.status, refused.body.error.code, refused.body.error.message]).toEqual([
    404,
    'not_found',
    'no such item',
  ])
  expect(refused.headers.get('idempotency-replayed')).toBeNull()
})

test('answers and errors of either process show what is left of the limits', async () => {
  const leftOf = (headers: Headers) =>
    /"create_batch";r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]
  const [first, second] = [
    await one.send('POST', 'batches', { body: { count: 1 } }),
    await viaOther('POST', 'batches', { body: { count: 1 } }),
  ]
  expect([first.status, second.status, Number(leftOf(second.headers))]).toEqual([
    201,
    201,
    Number(leftOf(first.headers)) - 1,
  ])
  await setPlan(one, one.tenantId, { overrides: { create_batch: 1 } })
  try {
    const refused = await viaOther('POST', 'batches', { body: { count: 1 } })
    expect([refused.status, leftOf(refused.headers)]).toEqual([429, '0'])
    expect(refused.headers.get('ratelimit')).toContain(
      `"create_batch";r=0;t=${refused.headers.get('retry-after')}`,
    )
  } finally {
    await setPlan(one, one.tenantId, { overrides: {} })
  }
})

test('one idempotency key sent to both processes runs once', async () => {
  const headers = { 'idempotency-key': 'both' }
  const [first, second] = [
    await one.send('PUT', 'profile', { body: { voice: 'dry' }, headers }),
    await viaOther('PUT', 'profile', { body: { voice: 'dry' }, headers }),
  ]
  expect(second.text).toBe(first.text)
  expect(second.headers.get('idempotency-replayed')).toBe('true')
})

test('a secret made through another process is stored sealed and replayed alike by both', async () => {
  const session = await tokenOf(one, one.tenantId)
  const made = {
    key: session,
    body: { name: 'Script', scopes: ['api:read'] },
    headers: { 'idempotency-key': 'secret' },
  }
  const first = await viaOther('POST', '/api/v1/app/keys', made)
  expect([first.status, first.body.api_key]).toEqual([201, expect.stringMatching(/^ak_/)])
  for (const place of [one, other])
    expect((await place.send('POST', '/api/v1/app/keys', made)).text).toBe(first.text)
  const unkeyed = await viaOther('POST', '/api/v1/app/keys', { ...made, headers: {} })
  const rows = await one.owner<
    { body: string }[]
  >`select body from idempotency where tenant_id = ${one.tenantId}
    and operation = 'app.keys.create'`
  expect(rows).toHaveLength(2)
  for (const { body } of rows)
    for (const { api_key } of [first.body, unkeyed.body]) expect(body).not.toContain(api_key)
})

test('a prepared command runs in the owning process, once', async () => {
  const session = await tokenOf(one, one.tenantId)
  const reply = await viaOther('POST', '/api/v1/app/connections/sandbox', {
    key: session,
    body: { handle: `h-${one.tenantId}` },
  })
  expect([reply.status, reply.body.connection.account.handle]).toEqual([201, `h-${one.tenantId}`])
  const [row] = await one.owner`select count(*)::int as rows from audit
    where tenant_id = ${one.tenantId} and operation = 'app.connections.connectSandbox'`
  expect(row!.rows).toBe(1)
})

test('a post requested at the other process goes out once', async () => {
  const story = await newStory(one)
  const id = await story.approved()
  const posted = await story.at(other).send('POST', `items/${id}/post-now`)
  expect([posted.status, posted.body.item.status]).toEqual([200, 'posted'])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('when the owner dies the process that receives the request takes over, without an error', async () => {
  const third = await testApp({ database: one.options })
  await third.send('PUT', 'profile', { body: { goal: 'before' } })
  const before = await ownerOf(third.tenantId)
  await third.workplace.runtime.abandon()
  const reply = await eventually(
    () => other.send('PUT', 'profile', { key: third.key, body: { goal: 'after' } }),
    ({ status }) => status === 200,
  )
  expect(reply.body.profile.goal).toBe('after')
  const after = await ownerOf(third.tenantId)
  expect(after!.owner).not.toBe(before!.owner)
  await third[Symbol.asyncDispose]()
})

test('a process that cannot know what it owns says so to the others instead of refusing their callers', async () => {
  await using third = await testApp({ database: one.options })
  await third.send('PUT', 'profile', { body: { goal: 'before' } })
  const call = {
    tenantId: third.tenantId,
    principal: { kind: 'system', id: 'test' },
    scopes: ['api:write'],
    surface: 'rest',
    requestId: 'r',
  }
  const letter = (goal: string) => {
    const operation = 'growth.profile.update'
    const body = JSON.stringify({
      operation,
      input: { goal },
      call: { ...call, idempotencyKey: goal },
    })
    const headers = third.workplace.signature.sign(body, {
      operation,
      letter: goal,
      workspace: third.tenantId,
    })
    return third.send('POST', LETTERS_PATH, { key: null, body, headers })
  }
  expect((await letter('while it knows')).body.answer.status).toBe(200)
  await third.workplace.runtime.abandon()
  expect((await letter('afterwards')).body).toEqual({ elsewhere: true })
})

const LABEL = { operation: 'growth.profile.update', letter: 'k', workspace: 'w' }

test('a letter from a process whose wall clock is two days ahead is accepted', async () => {
  const body = '{}'
  try {
    setSystemTime(new Date(Date.now() + 2 * 86_400_000))
    const headers = new Headers(one.workplace.signature.sign(body, LABEL))
    setSystemTime()
    expect(other.workplace.signature.sealOf(headers)?.fits(body)).toBe(true)
  } finally {
    setSystemTime()
  }
})

test('a captured letter is valid for half a minute only', async () => {
  const { signature } = one.workplace
  const body = JSON.stringify({ operation: 'growth.profile.update', input: {}, call: {} })
  let now = 1_000_000
  const held = nodeSignature(soleKey(TEST_SECRET), () => now)
  const headers = new Headers(signature.sign(body, LABEL))
  expect(signature.sealOf(headers)?.fits(body)).toBe(true)
  expect(signature.sealOf(headers)?.fits(`${body} `)).toBe(false)
  const captured = new Headers(held.sign(body, LABEL))
  now += 29_000
  expect(held.sealOf(captured)?.fits(body)).toBe(true)
  now += 2_000
  expect(held.sealOf(captured)).toBeUndefined()
})
