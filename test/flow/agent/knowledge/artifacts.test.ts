/** Files that were made: listed, shown, downloaded, deleted, and made of reports and audits. */

import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { newAudit } from '#domain/growth/learning/growth-audit'
import { newId } from '#kernel/ids'
import { insertGrowthAudit, saveGrowthAudit } from '#store/growth/growth-audits'
import { makeArtifact, makeReport, makeShare } from '#test/support/agent/artifacts'
import { newSurface } from '#test/support/agent/surface'
import { write } from '#test/support/arrange'
import { useApp } from '#test/support/use'

const PATH = '/api/v1/artifacts'
const app = useApp()

const setUp = async () => {
  const surface = await newSurface(app)
  const send = (method: string, path: string, body?: unknown, key = surface.key) =>
    app.send(method, `${PATH}${path}`, { key, ...(body === undefined ? {} : { body }) })
  const fetched = (id: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${app.url}${PATH}/${id}/download`, { method, headers: { authorization: `Bearer ${surface.key}`, ...headers } })
  const make = (changes: Parameters<typeof makeArtifact>[1] = {}) => makeArtifact(surface, changes)
  return { ...surface, send, fetched, make }
}

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('an artifact', () => {
  test('is shown with exactly the fields of the API document, and whether to trust it', async () => {
    const { send, make, tenantId } = await setUp()
    const [job, conversation, person] = [newId(), newId(), newId()]
    const bytes = '# Größe\n'
    const { id, created_at } = await make({
      bytes,
      job_id: job,
      conversation_id: conversation,
      created_by_user_id: person,
      metadata: { a: 1 },
    })
    const { status, body } = await send('GET', `/${id}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      artifact: {
        ...{ id, tenantId, jobId: job, conversationId: conversation, createdByUserId: person, source: 'capability', kind: 'report' },
        ...{ fileName: 'late-deliveries.md', mimeType: 'text/markdown', byteSize: Buffer.byteLength(bytes), sha256: sha256(bytes) },
        ...{ metadata: { a: 1, untrusted: false }, createdAt: created_at.toISOString(), deletedAt: null },
      },
      shares: [],
    })
  })

  test('of no known id, or no id at all, is 404 on every route', async () => {
    const { send, make } = await setUp()
    const { id } = await make()
    const share = `${id}/shares/${newId()}`
    const routes = ['GET /ID', 'DELETE /ID', 'GET /ID/download', 'POST /ID/shares', `DELETE /ID/shares/${newId()}`, `DELETE /${share}`]
    for (const route of [...routes, `DELETE /${id}/shares/nope`])
      for (const unknown of [newId(), 'nope', 'no%20such', '%00', `${id}x`]) {
        const [method, path = ''] = route.split(' ')
        const reply = await send(method!, path.replace('ID', unknown), method === 'POST' ? {} : undefined)
        expect([route, unknown, reply.status, reply.body.error?.code]).toEqual([route, unknown, 404, 'not_found'])
      }
  })

  test('is deleted once, with its shares in the same commit, and is absent from then on', async () => {
    const { send, make, tenantId, key } = await setUp()
    const { id } = await make()
    const share = await makeShare({ app, key }, id)
    const { status, body } = await send('DELETE', `/${id}`)
    expect([status, body.artifact.id, typeof body.artifact.deletedAt]).toEqual([200, id, 'string'])
    const [row] =
      await app.owner`select a.deleted_at = s.revoked_at as same, (select count(*)::int from inbound_route where ref_id = s.id) as routes
      from artifact a join artifact_share s on s.artifact_id = a.id where a.id = ${id}`
    expect({ ...row }).toEqual({ same: true, routes: 0 })
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/download'],
      ['POST', '/shares'],
      ['DELETE', `/shares/${share.id}`],
    ] as const)
      expect([method, path, (await send(method, `/${id}${path}`, method === 'POST' ? {} : undefined)).status]).toEqual([method, path, 404])
    expect((await send('GET', '')).body).toEqual({ artifacts: [], nextCursor: null })
    const [audit] = await app.owner`select operation, ref_id from audit where tenant_id = ${tenantId} order by id desc limit 1`
    expect({ ...audit }).toEqual({ operation: 'agent.artifacts.remove', ref_id: id })
  })
})

describe('the list', () => {
  test('is newest first, by pages whose cursor is a time, and takes filters', async () => {
    const { send, make } = await setUp()
    const [job, conversation] = [newId(), newId()]
    const made: string[] = []
    for (const changes of [{}, { kind: 'data' as const }, { job_id: job }, { conversation_id: conversation }, {}])
      made.unshift((await make(changes)).id)
    const pages: string[][] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { status, body } = await send('GET', `?limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
      expect(status).toBe(200)
      pages.push(body.artifacts.map(({ id }: { id: string }) => id))
      cursor = body.nextCursor
      if (cursor !== null) expect(cursor).toBe(body.artifacts.at(-1).createdAt)
    }
    expect(pages).toEqual([made.slice(0, 2), made.slice(2, 4), made.slice(4)])
    const filtered = async (query: string) => (await send('GET', `?${query}`)).body.artifacts.map(({ id }: { id: string }) => id)
    expect(await filtered('kind=data')).toEqual([made[3]!])
    expect(await filtered(`jobId=${job}`)).toEqual([made[2]!])
    expect(await filtered(`conversationId=${conversation}`)).toEqual([made[1]!])
    expect(await filtered('source=browser')).toEqual([])
    expect(await filtered('cursor=1999-01-01T00:00:00Z')).toEqual([])
    expect((await send('GET', '?cursor=yesterday')).status).toBe(400)
    expect([(await send('GET', '?limit=101')).status, (await send('GET', '?limit=0')).status]).toEqual([400, 400])
  })

  test('of many that were made at once has no two of one millisecond', async () => {
    const { make, send } = await setUp()
    const all = await Promise.all(Array.from({ length: 40 }, () => make()))
    expect(new Set(all.map(({ created_at }) => created_at.getTime())).size).toBe(40)
    const listed = (await send('GET', '?limit=100')).body.artifacts.map(({ createdAt }: { createdAt: string }) => createdAt)
    expect(listed).toEqual([...new Set<string>(listed)].sort().reverse())
  })
})

describe('a download', () => {
  const hostile = [
    'a"; filename="b.exe',
    'x\r\nSet-Cookie: a=b',
    '../../../etc/passwd',
    'Größe 😀.md',
    `${'ä'.repeat(300)}.md`,
    '.htaccess',
    '\u202Etxt.exe',
  ]

  test.each(hostile)('of a file named %j is an attachment with one safe name', async (file_name) => {
    const { make, fetched } = await setUp()
    const { id, file_name: kept } = await make({ file_name })
    const { headers, status } = await fetched(id)
    expect([status, headers.get('set-cookie')]).toEqual([200, null])
    const [, plain, extended] = /^attachment; filename="([ -!#-[\]-~]*)"(?:; filename\*=UTF-8''(.*))?$/.exec(
      headers.get('content-disposition')!,
    )!
    expect(extended === undefined ? plain : decodeURIComponent(extended)).toBe(kept)
    expect(kept).not.toMatch(/[/\\\r\n"]|^\.|\u202E/)
  })

  test('of a page is never something that a browser would run', async () => {
    const { make, fetched } = await setUp()
    const { id } = await make({ bytes: '<script>alert(1)</script>', mime_type: 'text/html', file_name: 'a.html' })
    const { headers } = await fetched(id)
    expect(
      Object.fromEntries(
        ['content-type', 'x-content-type-options', 'content-security-policy', 'cache-control'].map((name) => [name, headers.get(name)]),
      ),
    ).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, no-cache',
    })
    expect(headers.get('content-disposition')).toStartWith('attachment; ')
  })

  test.each([1, 1_048_576, 1_048_577, 4 * 1_048_576])('of %d bytes is whole, and can be asked for by range', async (size) => {
    const { make, fetched } = await setUp()
    const bytes = new Uint8Array(size).map((_, index) => (index * 7 + (index >> 12)) % 256)
    const { id, sha256: hash } = await make({ bytes })
    expect(hash).toBe(sha256(bytes))
    const whole = await fetched(id)
    const received = await whole.bytes()
    expect([whole.status, received.length, sha256(received), whole.headers.get('etag'), whole.headers.get('accept-ranges')]).toEqual([
      200,
      size,
      hash,
      `"${hash}"`,
      'bytes',
    ])
    const ranges: [string, number, number][] = [
      ['bytes=0-0', 0, 0],
      [`bytes=${size - 1}-`, size - 1, size - 1],
      ['bytes=-10', Math.max(0, size - 10), size - 1],
      [`bytes=${size >> 1}-${size + 9}`, size >> 1, size - 1],
    ]
    for (const [range, from, to] of ranges) {
      const part = await fetched(id, { range })
      expect([range, part.status, part.headers.get('content-range')]).toEqual([range, 206, `bytes ${from}-${to}/${size}`])
      expect(sha256(await part.bytes())).toBe(sha256(bytes.subarray(from, to + 1)))
    }
    const beyond = await fetched(id, { range: `bytes=${size}-` })
    expect([beyond.status, beyond.headers.get('content-range'), await beyond.text()]).toEqual([416, `bytes */${size}`, ''])
  })

  test('answers whether a copy is current, and HEAD with the size', async () => {
    const { make, fetched } = await setUp()
    const { id, sha256: hash } = await make({ bytes: 'abc' })
    for (const known of [`"${hash}"`, `W/"${hash}"`, `"x", "${hash}"`, '*']) {
      const { status, headers } = await fetched(id, { 'if-none-match': known })
      expect([known, status, headers.get('etag')]).toEqual([known, 304, `"${hash}"`])
    }
    expect((await fetched(id, { 'if-none-match': '"x"' })).status).toBe(200)
    const stale = await fetched(id, { range: 'bytes=1-1', 'if-range': '"x"' })
    expect([stale.status, await stale.text()]).toEqual([200, 'abc'])
    const head = await fetched(id, {}, 'HEAD')
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '3', ''])
  })

  test('needs a credential that may read the workspace', async () => {
    const { make, tenantId } = await setUp()
    const { id } = await make()
    const path = `${PATH}/${id}/download`
    const { api_key: other } = await app.newKey(['api:read'], tenantId)
    const statuses = [null, other, (await setUp()).key].map(async (key) => (await app.send('GET', path, { key })).status)
    expect(await Promise.all(statuses)).toEqual([401, 403, 404])
  })

  test('of a file that is damaged where it is stored is refused', async () => {
    const { make, fetched } = await setUp()
    const { id, file_id } = await make({ bytes: 'abc' })
    await app.owner`update file_block set bytes = 'abd' where file_id = ${file_id}`
    const reply = await fetched(id)
    expect([reply.status, await reply.json()]).toEqual([503, { error: expect.objectContaining({ code: 'unavailable' }) }])
  })
})

describe('of a record', () => {
  test('a report becomes Markdown, and says what it was made of', async () => {
    const { send, tenantId, fetched, as } = await setUp()
    const { id: recordId } = await makeReport({ app, tenantId })
    const { status, body } = await send('POST', '', { record: 'report', recordId }, await as('editor'))
    expect([status, body.artifact]).toEqual([
      201,
      expect.objectContaining({
        kind: 'report',
        fileName: 'report-2026-11-16.md',
        mimeType: 'text/markdown',
        metadata: { record: 'report', recordId, untrusted: false },
        source: 'capability',
      }),
    ])
    expect(body.artifact.createdByUserId).toEqual(expect.any(String))
    expect(await (await fetched(body.artifact.id)).text()).toBe('# Week of 16 November\n')
  })

  test('an audit becomes JSON', async () => {
    const { send, tenantId, fetched } = await setUp()
    const audit = newAudit(newId(), { days: 30, given: null, now: new Date() })
    const sample = { items: 0, too_young: 0, impressions: 0, reactions: 0, from: null, to: null, comparisons: 0 }
    const result = {
      sample,
      worked: [],
      flopped: [],
      hypotheses: [],
      best: [],
      worst: [],
      not_enough_data: null,
      learnings: [],
      not_added: [],
    }
    await write({ app, tenantId }, { writes: [insertGrowthAudit(audit)] })
    expect((await send('POST', '', { record: 'audit', recordId: audit.id })).body.error).toMatchObject({
      code: 'conflict',
      message: 'the audit is queued; only a ready one can be made into an artifact',
    })
    await write({ app, tenantId }, { writes: [saveGrowthAudit({ ...audit, status: 'ready', result })] })
    const { body } = await send('POST', '', { record: 'audit', recordId: audit.id })
    expect(body.artifact).toMatchObject({ kind: 'data', mimeType: 'application/json', createdByUserId: null })
    expect(await (await fetched(body.artifact.id)).json()).toMatchObject({ id: audit.id, days: 30, result })
  })

  test('one that is missing, of another workspace or not ready makes nothing, and a key repeats nothing', async () => {
    const { send, tenantId, key } = await setUp()
    const { id: others } = await makeReport({ app, tenantId: (await setUp()).tenantId })
    for (const recordId of [newId(), others]) expect((await send('POST', '', { record: 'report', recordId })).status).toBe(404)
    const { id: queued } = await makeReport({ app, tenantId }, { status: 'queued', markdown: null })
    expect((await send('POST', '', { record: 'report', recordId: queued })).status).toBe(409)
    const { id: recordId } = await makeReport({ app, tenantId })
    const again = () => app.send('POST', PATH, { key, body: { record: 'report', recordId }, headers: { 'idempotency-key': 'once' } })
    expect((await again()).text).toBe((await again()).text)
    const [{ files, artifacts }] = (await app.owner`select (select count(*)::int from file where tenant_id = ${tenantId}) as files,
      (select count(*)::int from artifact where tenant_id = ${tenantId}) as artifacts`) as unknown as [{ files: number; artifacts: number }]
    expect({ files, artifacts }).toEqual({ files: 1, artifacts: 1 })
  })
})
