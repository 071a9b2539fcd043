/** API keys that people make: whose they are, what they allow, and how they end. */
import { describe, expect, test } from 'bun:test'
import type { Role } from '#kernel/roles'
import { insertKeys, insertMember } from '#test/support/database/writes'
import { type SignedIn, signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const PATH = '/api/v1/app/keys'
const HOUR_MS = 3_600_000

const people = async <R extends Role[]>(
  ...roles: R
): Promise<{ tenantId: string; all: { [K in keyof R]: SignedIn } }> => {
  const { tenantId } = await app.newWorkspace()
  const all: SignedIn[] = []
  for (const role of roles) all.push(await signedIn(app, tenantId, role))
  return { tenantId, all: all as never }
}

const input = { name: 'Release script', scopes: ['api:read', 'api:write'] }
const create = (
  { key }: SignedIn,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) => app.send('POST', PATH, { key, headers, body: { ...input, ...more } })
const revoke = ({ key }: SignedIn, id: string) => app.send('DELETE', `${PATH}/${id}`, { key })
const list = async ({ key }: SignedIn, query = '') =>
  (await app.send('GET', `${PATH}${query}`, { key })).body
const readStatus = async (key: string) => (await app.send('GET', 'overview', { key })).status
const writeStatus = async (key: string) =>
  (await app.send('PUT', 'profile', { key, body: { goal: 'x' } })).status

describe('a key', () => {
  test('is shown once, and its list entry identifies it', async () => {
    const { tenantId, all } = await people('owner')
    const [owner] = all
    const expires_at = new Date(Date.now() + HOUR_MS).toISOString()
    const made = await create(owner, { expires_at, name: ' Release script ' })
    expect([made.status, made.text]).toEqual([201, expect.stringContaining('ak_')])
    const { key, api_key } = made.body
    expect(key).toEqual({
      id: expect.any(String),
      name: 'Release script',
      last4: api_key.slice(-4),
      scopes: input.scopes,
      person: { id: owner.personId, email: owner.email },
      created_at: expect.any(String),
      expires_at,
      revoked_at: null,
      last_used_at: null,
    })
    expect((await list(owner)).keys[0]).toEqual(key)
    expect(await readStatus(api_key)).toBe(200)
    const [row] = await app.owner`select detail, ref_id from audit where tenant_id = ${tenantId}
        and operation = 'app.keys.create'`
    const detail = {
      name: 'Release script',
      scopes: input.scopes,
      last4: key.last4,
      belongs_to: 'me',
    }
    expect({ ...row }).toEqual({ ref_id: key.id, detail })
    const rows =
      await app.owner`select to_jsonb(a)::text as text from audit a where tenant_id = ${tenantId}
      union all select to_jsonb(k)::text from api_key k where tenant_id = ${tenantId}`
    for (const { text } of rows) expect(text).not.toContain(api_key)
  })

  test('has the scopes that were requested, and no others', async () => {
    const { all } = await people('owner')
    const { body } = await create(all[0], { scopes: ['api:read', 'api:read'] })
    expect(body.key.scopes).toEqual(['api:read'])
    expect([await readStatus(body.api_key), await writeStatus(body.api_key)]).toEqual([200, 403])
  })

  test('cannot expire before it is made or far beyond any life', async () => {
    const { all } = await people('owner')
    const times = [
      new Date(Date.now() - HOUR_MS).toISOString(),
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59-14:00',
    ]
    for (const expires_at of times) {
      const reply = await create(all[0], { expires_at })
      expect([reply.status, reply.body.error?.details?.[0]?.path]).toEqual([400, 'expires_at'])
    }
  })

  test('is refused from the request after its revocation, and revoking it again changes nothing', async () => {
    const { all } = await people('owner')
    const { body } = await create(all[0])
    expect(await readStatus(body.api_key)).toBe(200)
    const first = await revoke(all[0], body.key.id)
    expect(first.body.key.revoked_at).toEqual(expect.any(String))
    expect(await readStatus(body.api_key)).toBe(401)
    expect((await revoke(all[0], body.key.id)).body).toEqual(first.body)
  })
})

describe('under an Idempotency-Key', () => {
  test('a stored answer cannot be moved to another key or workspace', async () => {
    const { tenantId, all } = await people('owner')
    const { tenantId: elsewhere } = await people('owner')
    await create(all[0], {}, { 'idempotency-key': 'one' })
    await app.owner`insert into idempotency (tenant_id, key, operation, fingerprint, state, status,
      body, expires_at)
      select ${elsewhere}, key, operation, fingerprint, state, status, body, expires_at
        from idempotency where tenant_id = ${tenantId}`
    await insertMember(app, elsewhere, { personId: all[0].personId, role: 'owner' })
    await app.owner`update session set tenant_id = ${elsewhere} where id = ${all[0].sessionId}`
    const reply = await create(all[0], {}, { 'idempotency-key': 'one' })
    expect([reply.status, reply.text.includes('ak_')]).toEqual([500, false])
  })
})

describe('a key of a member', () => {
  test('is refused to a member who has fifty, and that stops nobody else', async () => {
    const { tenantId, all } = await people('owner', 'viewer')
    const [owner, viewer] = all
    await insertKeys(app, tenantId, 50, { person_id: viewer.personId })
    const refused = await create(viewer)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'you have 50 keys in this workspace: revoke one first',
    ])
    expect((await create(owner)).status).toBe(201)
    await revoke(viewer, (await list(viewer, '?limit=1')).keys[0].id)
    expect((await create(viewer)).status).toBe(201)
  })

  test('is seen and revoked by its member and by owners only', async () => {
    const { all } = await people('owner', 'editor', 'viewer')
    const [owner, editor, viewer] = all
    const { key, api_key } = (await create(editor)).body
    expect((await list(viewer)).keys).toEqual([])
    expect((await list(editor)).keys).toEqual([{ ...key }])
    expect((await list(owner)).keys[0]).toEqual(key)
    expect((await revoke(viewer, key.id)).status).toBe(404)
    expect(await readStatus(api_key)).toBe(200)
    expect((await revoke(editor, key.id)).status).toBe(200)
    const other = (await create(editor)).body
    expect((await revoke(owner, other.key.id)).status).toBe(200)
  })

  test('stays listed without an email after the member leaves', async () => {
    const { all } = await people('owner', 'editor')
    const [owner, editor] = all
    const { key } = (await create(editor)).body
    await app.send('DELETE', `/api/v1/app/members/${editor.personId}`, { key: owner.key })
    const [listed] = (await list(owner)).keys
    expect(listed).toEqual({
      ...key,
      person: { id: editor.personId, email: null },
      revoked_at: expect.any(String),
    })
  })
})

describe('a key of the workspace', () => {
  test('is made by owners only, and stays when they leave', async () => {
    const { all } = await people('owner', 'owner', 'editor')
    const [first, second, editor] = all
    expect((await create(editor, { belongs_to: 'workspace' })).status).toBe(403)
    const { key, api_key } = (await create(first, { belongs_to: 'workspace' })).body
    expect(key.person).toBeNull()
    await app.send('DELETE', `/api/v1/app/members/${first.personId}`, { key: second.key })
    expect(await writeStatus(api_key)).toBe(200)
    expect((await revoke(editor, key.id)).status).toBe(404)
    expect((await revoke(second, key.id)).status).toBe(200)
  })
})

test('a workspace has at most 200 live keys', async () => {
  const { tenantId, all } = await people('owner')
  await insertKeys(app, tenantId, 198)
  await insertKeys(app, tenantId, 102, { revoked_at: new Date() })
  const last = await create(all[0])
  expect(last.status).toBe(201)
  const refused = await create(all[0])
  expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict'])
  await revoke(all[0], last.body.key.id)
  expect((await create(all[0])).status).toBe(201)
})
