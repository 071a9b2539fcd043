/**
 * Shares: who has the token downloads the file, until it expires, is revoked, or the artifact is
 * deleted. In every other case, 404.
 */
import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { expire, makeArtifact, makeShare } from '#test/support/agent/artifacts'
import { newSurface } from '#test/support/agent/surface'
import { useSharedApp } from '#test/support/use'

const PATH = '/api/v1/artifacts'
const DAY_MS = 86_400_000
const app = useSharedApp()

const setUp = async () => {
  const surface = await newSurface(app)
  const artifact = await makeArtifact(surface)
  const share = (body: object = {}, id = artifact.id) => makeShare(surface, id, body)
  const send = (method: string, path: string, body?: unknown) =>
    app.send(method, `${PATH}/${artifact.id}${path}`, {
      key: surface.key,
      ...(body === undefined ? {} : { body }),
    })
  return { ...surface, artifact, share, send }
}

/** The same request id in each, so that answers can be compared byte by byte. */
const open = async (token: string, method = 'GET', headers: Record<string, string> = {}) => {
  const reply = await fetch(`${app.url}${PATH}/shared/${token}`, {
    method,
    headers: { 'x-request-id': 'same', ...headers },
  })
  const shown = [...reply.headers].filter(([name]) => name !== 'date').sort()
  return {
    status: reply.status,
    text: await reply.text(),
    headers: reply.headers,
    whole: JSON.stringify(shown),
  }
}

describe('a share', () => {
  test('gives a token once, of which only the hash is kept, and the address of this deployment', async () => {
    const { send, artifact, tenantId } = await setUp()
    const { status, body } = await send('POST', '/shares', { expiresInDays: 3 })
    expect(status).toBe(201)
    expect(Object.keys(body).sort()).toEqual(['share', 'token', 'url'])
    expect(body.share).toEqual({
      id: expect.any(String),
      artifactId: artifact.id,
      expiresAt: expect.any(String),
      revokedAt: null,
      createdAt: expect.any(String),
    })
    expect(Date.parse(body.share.expiresAt) - Date.parse(body.share.createdAt)).toBe(3 * DAY_MS)
    expect(body.token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(body.url).toBe(`${app.workplace.world.identity.publicUrl}${PATH}/shared/${body.token}`)
    expect((await send('GET', '')).body.shares).toEqual([body.share])
    const everything = await app.owner`select (select json_agg(a) from audit a
        where tenant_id = ${tenantId})::text || (select json_agg(s) from artifact_share s)::text
      || (select json_agg(r) from inbound_route r)::text as text`
    expect(everything[0]!.text).not.toContain(body.token)
  })

  test('lasts a week unless it says otherwise, and at least a day and at most ninety', async () => {
    const { send } = await setUp()
    const days = async (body?: object) => {
      const { status, body: made } = await send('POST', '/shares', body)
      return status === 201
        ? (Date.parse(made.share.expiresAt) - Date.parse(made.share.createdAt)) / DAY_MS
        : status
    }
    expect([
      await days(),
      await days({}),
      await days({ expiresInDays: 1 }),
      await days({ expiresInDays: 90 }),
    ]).toEqual([7, 7, 1, 90])
  })

  test('is one of fifty active ones at most', async () => {
    const { artifact, share, send } = await setUp()
    const { id } = await share()
    await app.owner`insert into artifact_share (id, tenant_id, artifact_id, token_hash, expires_at,
      created_at)
      select gen_random_uuid(), tenant_id, artifact_id, sha256(n::text::bytea || id::text::bytea),
        expires_at, created_at from artifact_share, generate_series(2, 50) n where id = ${id}`
    const full = await send('POST', '/shares', {})
    expect([full.status, full.body.error?.message]).toEqual([
      409,
      'the artifact has 50 active shares; revoke one first',
    ])
    expect((await send('GET', '')).body.shares).toHaveLength(50)
    expect((await send('DELETE', `/shares/${id}`)).status).toBe(200)
    expect((await send('POST', '/shares', {})).status).toBe(201)
    await app.owner`insert into artifact_share (id, tenant_id, artifact_id, token_hash, expires_at,
      revoked_at, created_at)
      select gen_random_uuid(), tenant_id, artifact_id,
        sha256(n::text::bytea || id::text::bytea || 'x'), expires_at, created_at, created_at
        from artifact_share, generate_series(1, 450) n where id = ${id}`
    await app.owner`update artifact_share set revoked_at = now() where artifact_id = ${artifact.id}`
    expect((await send('POST', '/shares', {})).status).toBe(409)
  })
})

describe('the public address', () => {
  test('gives the file to anybody who has the token, by range too, and lets nothing learn the token', async () => {
    const { share, artifact } = await setUp()
    const { token } = await share()
    const whole = await open(token)
    expect([whole.status, whole.text]).toEqual([200, '# Late deliveries\n'])
    const shown = [
      'content-type',
      'content-disposition',
      'content-security-policy',
      'x-content-type-options',
      'referrer-policy',
      'x-robots-tag',
      'etag',
      'cache-control',
    ]
    expect(shown.map((name) => whole.headers.get(name))).toEqual([
      ...[
        'text/markdown; charset=utf-8',
        'attachment; filename="late-deliveries.md"',
        "sandbox; default-src 'none'",
        'nosniff',
        'no-referrer',
      ],
      ...['noindex', `"${artifact.sha256}"`, 'private, no-cache'],
    ])
    const part = await open(token, 'GET', { range: 'bytes=2-5' })
    expect([part.status, part.text]).toEqual([206, 'Late'])
    expect((await open(token, 'GET', { 'if-none-match': `"${artifact.sha256}"` })).status).toBe(304)
    expect([(await open(token, 'HEAD')).status, (await open(token, 'POST')).status]).toEqual([
      200, 405,
    ])
  })

  test('of a token that is unknown, malformed, revoked, expired, of a deleted artifact or an erased file is 404 with the same bytes', async () => {
    const { share, send, artifact, tenantId, key } = await setUp()
    const unknown = await open(randomBytes(32).toString('base64url'))
    expect([unknown.status, JSON.parse(unknown.text).error]).toEqual([
      404,
      { code: 'not_found', message: 'no such share', request_id: 'same' },
    ])
    const same = async (token: string) => {
      const other = await open(token)
      expect({ token, ...other, headers: 0 }).toEqual({ token, ...unknown, headers: 0 })
      expect((await open(token, 'HEAD')).status).toBe(404)
    }
    for (const malformed of [
      'x',
      'a'.repeat(43),
      'A'.repeat(2_000),
      '%F0%9F%98%80',
      "'%20or%201=1--",
      '..%2F..',
      artifact.id,
      '%00',
    ])
      await same(malformed)
    const [revoked, expired, left] = [await share(), await share(), await share()]
    await same(`${left.token}x`)
    await same(left.token.slice(1))
    expect((await send('DELETE', `/shares/${revoked.id}`)).status).toBe(200)
    await same(revoked.token)
    await expire(app, expired.id)
    await same(expired.token)
    expect((await open(left.token)).status).toBe(200)
    await app.send('DELETE', `${PATH}/${artifact.id}`, { key })
    await same(left.token)
    await app.owner`update artifact set deleted_at = null where id = ${artifact.id}`
    await same(left.token)
    expect(tenantId).toBeString()
  })

  test.each(['artifact_share', 'inbound_route'])(
    'is refused to the second by the clock of the database (%s)',
    async (table) => {
      const { share, send } = await setUp()
      const { id, token } = await share()
      const column = table === 'artifact_share' ? 'id' : 'ref_id'
      await app.owner`update ${app.owner(table)} set expires_at = clock_timestamp() + interval
        '1.2 seconds' where ${app.owner(column)} = ${id}`
      const isOver = async () => {
        const [row] =
          await app.owner`select clock_timestamp() >= expires_at as over from ${app.owner(table)}
            where ${app.owner(column)} = ${id}`
        return row!.over as boolean
      }
      for (let isGone = false; !isGone; ) {
        const before = await isOver()
        const { status } = await open(token)
        const after = await isOver()
        // While it ended either may be answered.
        if (before === after) expect([before, status]).toEqual([before, before ? 404 : 200])
        isGone = before && after
      }
      if (table === 'inbound_route') return
      expect([
        (await send('GET', '')).body.shares,
        (await send('DELETE', `/shares/${id}`)).status,
      ]).toEqual([[], 404])
    },
  )
})

describe('the states of a share', () => {
  const arrange = {
    active: async () => {},
    revoked: async ({ send }: Awaited<ReturnType<typeof setUp>>, id: string) =>
      void (await send('DELETE', `/shares/${id}`)),
    expired: async (_: unknown, id: string) => expire(app, id),
    deleted: async ({ send }: Awaited<ReturnType<typeof setUp>>) => void (await send('DELETE', '')),
  }
  test.each([
    ['active', 200, 200, 1],
    ['revoked', 404, 404, 0],
    ['expired', 404, 404, 0],
    ['deleted', 404, 404, undefined],
  ] as const)('%s: download %d, revoke %d', async (state, download, revoke, listed) => {
    const story = await setUp()
    const { id, token } = await story.share()
    await arrange[state](story, id)
    expect((await story.send('GET', '')).body.shares?.length).toBe(listed)
    expect((await open(token)).status).toBe(download)
    const reply = await story.send('DELETE', `/shares/${id}`)
    expect([reply.status, typeof reply.body.share?.revokedAt]).toEqual([
      revoke,
      revoke === 200 ? 'string' : 'undefined',
    ])
    expect((await open(token)).status).toBe(404)
  })

  test('a share is revoked through its own artifact only', async () => {
    const { share, tenantId, key, send } = await setUp()
    const { id } = await share()
    const other = await makeArtifact({ app, tenantId })
    expect((await app.send('DELETE', `${PATH}/${other.id}/shares/${id}`, { key })).status).toBe(404)
    expect((await send('DELETE', `/shares/${id}`)).status).toBe(200)
  })
})
