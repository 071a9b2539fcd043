/** The audit trail: what it contains, who can read it, and what it looks like as a file. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { inviteByOperator } from '#ops/operator/admin/workspaces'
import { revokeKey } from '#store/app/keys'
import { changePlan } from '#store/app/tenants'
import { tokenIn } from '#test/support/people'
import { type SignedIn, signedIn } from '#test/support/session'
import { jsonLines } from '#test/support/texts/lines'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const PATH = '/api/v1/app/audit'

const newOwner = async (): Promise<SignedIn & { tenantId: string }> => {
  const { tenantId } = await app.newWorkspace()
  await app.owner`delete from audit where tenant_id = ${tenantId}`
  return { tenantId, ...(await signedIn(app, tenantId)) }
}
const put = (key: string, goal: string, headers: Record<string, string> = {}) =>
  app.send('PUT', 'profile', { key, body: { goal }, headers })
const list = async ({ key }: SignedIn, query: Record<string, string> = {}) =>
  (await app.send('GET', `${PATH}?${new URLSearchParams(query)}`, { key })).body
const makeKey = async ({ key }: SignedIn) =>
  (
    await app.send('POST', '/api/v1/app/keys', {
      key,
      body: { name: 'Release script', scopes: ['api:read', 'api:write'] },
    })
  ).body

/** Rows with ascending ids, an hour apart. */
const addRows = (
  { tenantId }: { tenantId: string },
  count: number,
  { operation = 'test', detail = '{}' } = {},
) =>
  app.owner`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation, detail)
    select (${tenantId.slice(0, 24)} || lpad(n::text, 12, '0'))::uuid, ${tenantId},
      '2020-01-01'::timestamptz + n * interval '1 hour',
      'system', 'operator', 'admin', ${operation}, ${detail}::text::jsonb
        from generate_series(1, ${count}) n`

describe('the list', () => {
  test('says who did what, when, and how', async () => {
    const owner = await newOwner()
    await put(owner.key, 'Mine', { 'x-request-id': 'mine', 'x-tendril-surface': 'cli' })
    const { key, api_key } = await makeKey(owner)
    await put(api_key, "The script's")
    const { entries } = await list(owner)
    expect(entries).toEqual([
      {
        id: expect.any(String),
        at: expect.any(String),
        surface: 'rest',
        operation: 'growth.profile.update',
        ref_id: null,
        request_id: expect.any(String),
        detail: { changed: ['goal'] },
        who: { kind: 'key', id: key.id, name: 'Release script', email: owner.email },
        allowed_by: null,
      },
      expect.objectContaining({ operation: 'app.keys.create', ref_id: key.id }),
      expect.objectContaining({
        surface: 'cli',
        request_id: 'mine',
        who: { kind: 'person', id: owner.personId, name: 'Test', email: owner.email },
      }),
    ])
  })

  test('returns every entry once, newest first, page by page', async () => {
    const owner = await newOwner()
    await addRows(owner, 5)
    const seen: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { entries, next_cursor } = await list(owner, {
        limit: '2',
        ...(cursor ? { cursor } : {}),
      })
      seen.push(...entries.map(({ id }: { id: string }) => id))
      cursor = next_cursor
    }
    expect(seen.map((id) => Number(id.slice(-12)))).toEqual([5, 4, 3, 2, 1])
  })

  test('filters by operation, by time, and by a person and their keys', async () => {
    const owner = await newOwner()
    const other = await signedIn(app, owner.tenantId, 'owner')
    await addRows(owner, 4)
    await put(other.key, 'Theirs')
    const { key, api_key } = await makeKey(owner)
    await put(api_key, "The script's")
    const operations = async (query: Record<string, string>) =>
      (await list(owner, query)).entries.map(({ operation }: { operation: string }) => operation)
    expect(await operations({ operation: 'app.keys.create' })).toEqual(['app.keys.create'])
    expect(await operations({ actor: owner.personId.toUpperCase() })).toEqual([
      'growth.profile.update',
      'app.keys.create',
    ])
    expect(await operations({ actor: key.id })).toEqual(['growth.profile.update'])
    expect(await operations({ actor: newId() })).toEqual([])
    const hours = async (query: Record<string, string>) =>
      (await list(owner, { ...query, operation: 'test' })).entries.map(({ at }: { at: string }) =>
        new Date(at).getUTCHours(),
      )
    expect(await hours({ since: '2020-01-01T02:00:00Z', until: '2020-01-01T04:00:00Z' })).toEqual([
      3, 2,
    ])
    expect(
      await hours({ since: '0000-01-01T00:00:00Z', until: '9999-12-31T23:59:59-14:00' }),
    ).toEqual([4, 3, 2, 1])
  })

  test('includes what operators do to the workspace', async () => {
    const owner = await newOwner()
    const { db } = app.workplace
    const { id } = await app.newKey(['api:read'], owner.tenantId)
    await revokeKey(db, id)
    await changePlan(db, owner.tenantId, (before) => ({ ...before, plan: 'free' }))
    await inviteByOperator(
      { db, publicUrl: 'http://localhost' },
      { tenantId: owner.tenantId, role: 'viewer' },
    )
    const { entries } = await list(owner)
    const who = { kind: 'system', id: 'operator', name: null, email: null }
    const created = { name: 'test', last4: expect.any(String), scopes: ['api:read'] }
    expect(entries).toMatchObject([
      {
        operation: 'operator.invitations.create',
        ref_id: expect.any(String),
        detail: { role: 'viewer' },
        who,
        surface: 'admin',
      },
      {
        operation: 'operator.plan.set',
        ref_id: null,
        detail: { plan: 'free', billing: 'ok', overrides: {} },
        who,
      },
      { operation: 'operator.keys.revoke', ref_id: id, detail: {}, who },
      { operation: 'operator.keys.create', ref_id: id, detail: created, who },
    ])
  })

  test('and the file include what jobs of the agent do, and on whose behalf', async () => {
    const owner = await newOwner()
    const [job, personId] = [newId(), owner.personId]
    const detail = { on_behalf: { kind: 'session', id: owner.sessionId, personId }, step: 2 }
    await app.owner`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation,
      detail)
      values (${newId()}, ${owner.tenantId}, now(), 'agent', ${job}, 'agent',
        'growth.learnings.add', ${app.owner.json(detail)})`
    const who = { kind: 'agent', id: job, name: null, email: null }
    expect((await list(owner, { actor: job })).entries).toMatchObject([
      { who, surface: 'agent', detail },
    ])
    const { status, text } = await app.send('GET', `${PATH}/export?actor=${job}`, {
      key: owner.key,
    })
    expect([status, jsonLines(text)]).toMatchObject([
      200,
      [{ who_kind: 'agent', who_id: job, who_name: null, who_email: null, detail }],
    ])
  })
})

describe('the file', () => {
  const exported = async ({ key }: SignedIn, query = '') =>
    app.send('GET', `${PATH}/export${query}`, { key })

  test('has all entries as JSON lines, also when they exceed a page of the list', async () => {
    const owner = await newOwner()
    await addRows(owner, 450)
    await put(owner.key, 'Mine')
    const reply = await exported(owner)
    expect([reply.status, reply.headers.get('content-disposition')]).toEqual([
      200,
      expect.stringMatching(/tendril-audit-.*\.ndjson/),
    ])
    const lines = jsonLines(reply.text)
    expect(lines).toHaveLength(451)
    expect(lines[0]).toMatchObject({
      who_kind: 'person',
      who_email: owner.email,
      operation: 'growth.profile.update',
    })
    expect(lines.slice(1).map(({ id }) => Number(id.slice(-12)))).toEqual(
      Array.from({ length: 450 }, (_, index) => 450 - index),
    )
    const narrowed = jsonLines(
      (await exported(owner, '?since=2020-01-01T05:00:00Z&until=2020-01-01T06:00:00Z')).text,
    )
    expect(narrowed.map(({ at }) => at)).toEqual(['2020-01-01T05:00:00.000Z'])
  })

  test('as CSV, neutralises text that begins like a formula', async () => {
    const owner = await newOwner()
    await app.owner`update person set name = '=HYPERLINK("https://evil.example","x")'
      where id = ${owner.personId}`
    await put(owner.key, 'Mine', { 'x-request-id': '@SUM(A1)' })
    const reply = await exported(owner, '?format=csv')
    expect(reply.headers.get('content-type')).toStartWith('text/csv')
    const [head, row, ...rest] = reply.text.split('\r\n')
    expect(head).toBe(
      'id,at,who_kind,who_id,who_name,who_email,surface,operation,ref_id,request_id,detail,allowed_by_id,allowed_by_name',
    )
    expect(row).toContain(
      `,"'=HYPERLINK(""https://evil.example"",""x"")",${owner.email},rest,growth.profile.update,,'@SUM(A1),"{""changed"":[""goal""]}",,`,
    )
    expect(rest).toEqual([''])
  })

  test('contains no secret that people were given', async () => {
    const owner = await newOwner()
    const { api_key } = await makeKey(owner)
    const invited = await app.send('POST', '/api/v1/app/invitations', {
      key: owner.key,
      body: { role: 'viewer' },
    })
    const { text } = await exported(owner)
    expect(jsonLines(text)).toHaveLength(2)
    for (const secret of [api_key, tokenIn(invited.body.url)]) expect(text).not.toContain(secret)
  })
})
