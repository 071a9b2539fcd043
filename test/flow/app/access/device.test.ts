/**
 * The device flow (RFC 8628): a device asks for a code, and gets a token once a person has approved
 * it.
 */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { setRole } from '#test/support/database/writes'
import {
  approvedToken,
  askForCode,
  askForToken,
  decide,
  forgetAttempts,
  GRANT_TYPE,
  type Joined,
  joinAs,
  sendForm,
} from '#test/support/people'
import { useApp } from '#test/support/use'

let ann: Joined
const app = useApp({ env: { PUBLIC_URL: 'https://tendril.example.com' } })
beforeAll(async () => {
  ann = await joinAs(app)
})
afterEach(() => forgetAttempts(app))

const CODE = '/api/v1/app/device/code'
const TOKEN = '/api/v1/app/device/token'
const REVOKE = '/api/v1/app/device/revoke'
const hashOf = (text: string) => createHash('sha256').update(text).digest()
const find = (key: string, code: string) =>
  app.send('GET', `/api/v1/app/device?user_code=${code}`, { key })
const setGoal = (key: string, goal = 'x') => app.send('PUT', 'profile', { key, body: { goal } })
const me = (key: string) => app.send('GET', '/api/v1/app/session', { key })

describe('a device authorisation request', () => {
  test('returns the codes, and only their hashes are stored', async () => {
    const codes = await askForCode(app)
    expect(codes).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: 'https://tendril.example.com/device',
      verification_uri_complete: `https://tendril.example.com/device?code=${codes.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    const [row] = await app.owner`select to_jsonb(g)::text as text,
        extract(epoch from expires_at - created_at)::int as lasts
      from device_grant g where device_code_hash = ${hashOf(codes.device_code)}`
    expect(row!.lasts).toBeWithin(599, 601)
    for (const secret of [codes.device_code, codes.user_code, codes.user_code.replace('-', '')])
      expect(row!.text).not.toContain(secret)
  })

  test.each([
    ['no client', {}, 'invalid_request'],
    ['an empty client', { client_id: '' }, 'invalid_request'],
    ['an unknown client', { client_id: 'evil' }, 'invalid_client'],
    [
      'an unknown scope',
      { client_id: 'tendril-cli', scope: 'api:read everything' },
      'invalid_scope',
    ],
    [
      'a scope that no device has',
      { client_id: 'tendril-cli', scope: 'workspace:use' },
      'invalid_scope',
    ],
    [
      'a session beside scopes',
      { client_id: 'tendril-cli', scope: 'session api:read' },
      'invalid_scope',
    ],
    ['a NUL in the name', { client_id: 'tendril-cli', device_name: 'a\0b' }, 'invalid_request'],
  ])('is refused with %s', async (_, form, error) => {
    const reply = await sendForm(app, CODE, form)
    expect([reply.status, reply.body]).toEqual([
      400,
      { error, error_description: expect.any(String) },
    ])
    expect([reply.headers.get('cache-control'), reply.headers.get('content-type')]).toEqual([
      'no-store',
      'application/json; charset=utf-8',
    ])
  })

  test('is refused as JSON, with a repeated field, and when too large', async () => {
    const post = (body: string, type: string) =>
      app.send('POST', CODE, { key: null, body, headers: { 'content-type': type } })
    const form = 'application/x-www-form-urlencoded'
    for (const reply of [
      await post('{"client_id":"tendril-cli"}', 'application/json'),
      await post('client_id=tendril-cli&client_id=tendril-cli', form),
    ])
      expect([reply.status, reply.body.error]).toEqual([400, 'invalid_request'])
    const long = await post(`client_id=tendril-cli&device_name=${'x'.repeat(20_000)}`, form)
    expect([long.status, long.body.error]).toEqual([413, 'invalid_request'])
  })

  test('ignores unknown fields, as OAuth requires', async () => {
    expect((await sendForm(app, CODE, { client_id: 'tendril-cli', audience: 'x' })).status).toBe(
      200,
    )
  })

  test('shows the device name without characters that hide, reorder or break text, and at bounded length', async () => {
    const { user_code } = await askForCode(app, {
      device_name: ` a\u202eb\u200b\n\tc  ${'x'.repeat(500)}`,
    })
    const { device_name } = (await find(ann.access, user_code)).body.request
    expect(device_name).toStartWith('a b c xxx')
    expect(device_name).toHaveLength(100)
    const unnamed = await askForCode(app, { device_name: '\u202e' })
    expect((await find(ann.access, unnamed.user_code)).body.request.device_name).toBe(
      'unnamed device',
    )
  })

  test('is rate-limited by address, also when many arrive at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 40 }, () => sendForm(app, CODE, { client_id: 'tendril-cli' })),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(30)
    const refused = replies.find(({ status }) => status !== 200)!
    expect([refused.status, refused.body.error]).toEqual([429, 'temporarily_unavailable'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
  })

  test('is refused while too many requests are pending, and those that ended long ago are swept', async () => {
    await app.owner`insert into device_grant (id, device_code_hash, user_code_hash, client_id,
      device_name, address, scopes, poll_every, expires_at)
      select gen_random_uuid(), sha256(('d' || n)::bytea), sha256(('u' || n)::bytea), 'tendril-cli',
        'many', 'x', '{api:read}', 5,
             clock_timestamp() + interval '1 minute' from generate_series(1, 5000) n`
    const reply = await sendForm(app, CODE, { client_id: 'tendril-cli' })
    expect([reply.status, reply.body.error]).toEqual([503, 'temporarily_unavailable'])
    await app.owner`update device_grant set expires_at = clock_timestamp() - interval '2 hours'
      where device_name = 'many'`
    expect((await sendForm(app, CODE, { client_id: 'tendril-cli' })).status).toBe(200)
    const [row] =
      await app.owner`select count(*)::int as left from device_grant where device_name = 'many'`
    expect(row!.left).toBe(4_950)
    await app.owner`delete from device_grant where device_name = 'many'`
  })
})

describe('a token', () => {
  test('is a key of the approver, named after the device, and recorded in the audit trail of the workspace', async () => {
    const reply = await approvedToken(app, ann, { device_name: 'build machine' })
    expect(reply).toEqual({
      access_token: expect.stringMatching(/^ak_/),
      token_type: 'Bearer',
      scope: 'api:read api:write mcp:use',
      workspace: { id: app.tenantId, name: 'Test' },
    })
    const key = reply.access_token
    expect((await setGoal(key, 'By device')).status).toBe(200)
    const [row] = await app.owner`select id, name, person_id, tenant_id, scopes from api_key
        where hash = ${hashOf(key)}`
    const own = {
      name: 'build machine',
      person_id: ann.personId,
      tenant_id: app.tenantId,
      scopes: ['api:read', 'api:write', 'mcp:use'],
    }
    expect(row).toEqual({ id: expect.any(String), ...own })
    const audited = await app.owner`select operation, actor_id, surface, detail from audit
        where ref_id = ${row!.id}`
    const detail = { device: 'build machine', address: '127.0.0.1', scopes: own.scopes }
    expect([...audited]).toEqual([
      { operation: 'app.device.issued', actor_id: ann.personId, surface: 'cli', detail },
    ])
    expect((await app.send('GET', '/api/v1/app/session', { key })).status).toBe(403)
  })

  test('is issued once', async () => {
    const { device_code, user_code } = await askForCode(app)
    await decide(app, ann.access, user_code)
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => askForToken(app, device_code)),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    for (const { body } of replies.filter(({ status }) => status === 400))
      expect(body.error).toBe('invalid_grant')
    expect((await askForToken(app, device_code)).body.error).toBe('invalid_grant')
  })

  test('has the scopes that were requested, and no more', async () => {
    const { access_token: key, scope } = await approvedToken(app, ann, { scope: 'api:read' })
    expect(scope).toBe('api:read')
    expect((await app.send('GET', 'items', { key: key! })).status).toBe(200)
    expect((await setGoal(key!)).status).toBe(403)
  })

  test('of a viewer stays read-only, even when the viewer later becomes an owner', async () => {
    const viewer = await joinAs(app, { role: 'viewer' })
    const { access_token: key, scope } = await approvedToken(app, viewer)
    expect(scope).toBe('api:read mcp:use')
    const put = () => setGoal(key!)
    expect([(await app.send('GET', 'items', { key: key! })).status, (await put()).status]).toEqual([
      200, 403,
    ])
    await setRole(app, viewer.personId, 'owner')
    expect((await put()).status).toBe(403)
    const { user_code } = await askForCode(app, { scope: 'api:write' })
    await setRole(app, viewer.personId, 'viewer')
    expect((await decide(app, viewer.access, user_code)).status).toBe(403)
  })

  test("never allows more than its person's role, and is revoked when the person leaves", async () => {
    const owner = await joinAs(app)
    const { access_token: key } = await approvedToken(app, owner)
    const { device_code, user_code } = await askForCode(app)
    await decide(app, owner.access, user_code)
    const put = () => setGoal(key!)
    expect((await put()).status).toBe(200)
    await setRole(app, owner.personId, 'viewer')
    expect((await put()).status).toBe(403)
    await app.owner`delete from member where person_id = ${owner.personId}`
    expect((await put()).status).toBe(401)
    expect((await askForToken(app, device_code)).body.error).toBe('access_denied')
  })

  test('belongs to the workspace in which it was approved, even if the person switches later', async () => {
    const { tenantId } = await app.newWorkspace()
    const person = await joinAs(app, { email: ann.email })
    await joinAs(app, { tenantId, email: ann.email })
    const move = (workspace_id: string) =>
      app.send('POST', '/api/v1/app/session/workspace', {
        key: person.access,
        body: { workspace_id },
      })
    const { device_code, user_code } = await askForCode(app)
    await move(tenantId)
    const conflicting = await decide(app, person.access, user_code, { workspace_id: app.tenantId })
    expect([conflicting.status, conflicting.body.error?.code]).toEqual([409, 'conflict'])
    expect((await decide(app, person.access, user_code, { workspace_id: tenantId })).status).toBe(
      200,
    )
    await move(app.tenantId)
    const { access_token: key, workspace } = (await askForToken(app, device_code)).body as {
      access_token: string
      workspace: object
    }
    expect(workspace).toEqual({ id: tenantId, name: 'Test' })
    await setGoal(key, 'Elsewhere')
    const [row] =
      await app.owner`select data->>'goal' as goal from profile where tenant_id = ${tenantId}`
    expect(row!.goal).toBe('Elsewhere')
  })

  test("of an hour's session cannot approve another device, as it could then renew itself for ever", async () => {
    const { access_token } = await approvedToken(app, ann, { scope: 'session' })
    const { user_code } = await askForCode(app, { scope: 'session' })
    const reply = await decide(app, access_token, user_code)
    expect([reply.status, reply.body.error?.code]).toEqual([403, 'forbidden'])
    expect((await decide(app, ann.access, user_code)).status).toBe(200)
  })

  test('for a session acts as the person for an hour', async () => {
    const reply = await approvedToken(app, ann, { scope: 'session' })
    expect(reply).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'session',
      workspace: { id: app.tenantId, name: 'Test' },
    })
    const { body } = await me(reply.access_token!)
    expect(body.session.person.email).toBe(ann.email)
    const [row] =
      await app.owner`select kind, extract(epoch from expires_at - created_at)::int as lasts
        from session where id = ${body.session.id}`
    expect(row).toEqual({ kind: 'command_line', lasts: expect.any(Number) })
    expect(row!.lasts).toBeWithin(3_599, 3_602)
  })
})

test('the grant type is the one of the RFC, and other methods are refused', async () => {
  expect(GRANT_TYPE).toBe('urn:ietf:params:oauth:grant-type:device_code')
  for (const path of [CODE, TOKEN, REVOKE])
    expect((await app.send('GET', path, { key: null })).status).toBe(405)
})
