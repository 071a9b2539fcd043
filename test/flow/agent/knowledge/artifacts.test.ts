/** Files that were made: listed, shown, deleted, and made of reports and audits. */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { newAudit } from '#domain/growth/learning/growth-audit'
import { newId } from '#kernel/ids'
import { insertGrowthAudit, saveGrowthAudit } from '#store/growth/growth-audits'
import { makeArtifact, makeReport, makeShare } from '#test/support/agent/artifacts'
import { newSurface } from '#test/support/agent/surface'
import { write } from '#test/support/arrange'
import { useSharedApp } from '#test/support/use'

const PATH = '/api/v1/artifacts'
const app = useSharedApp()

const setUp = async () => {
  const surface = await newSurface(app)
  const send = (method: string, path: string, body?: unknown, key = surface.key) =>
    app.send(method, `${PATH}${path}`, { key, ...(body === undefined ? {} : { body }) })
  const fetched = (id: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${app.url}${PATH}/${id}/download`, {
      method,
      headers: { authorization: `Bearer ${surface.key}`, ...headers },
    })
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
        id,
        tenantId,
        jobId: job,
        conversationId: conversation,
        createdByUserId: person,
        source: 'capability',
        kind: 'report',
        fileName: 'late-deliveries.md',
        mimeType: 'text/markdown',
        byteSize: Buffer.byteLength(bytes),
        sha256: sha256(bytes),
        metadata: { a: 1, untrusted: false },
        createdAt: created_at.toISOString(),
        deletedAt: null,
      },
      shares: [],
    })
  })

  test('is deleted once, with its shares in the same commit, and is absent from then on', async () => {
    const { send, make, tenantId, key } = await setUp()
    const { id } = await make()
    const share = await makeShare({ app, key }, id)
    const { status, body } = await send('DELETE', `/${id}`)
    expect([status, body.artifact.id, typeof body.artifact.deletedAt]).toEqual([200, id, 'string'])
    const [row] = await app.owner`select a.deleted_at = s.revoked_at as same,
        (select count(*)::int from inbound_route where ref_id = s.id) as routes
      from artifact a join artifact_share s on s.artifact_id = a.id where a.id = ${id}`
    expect({ ...row }).toEqual({ same: true, routes: 0 })
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/download'],
      ['POST', '/shares'],
      ['DELETE', `/shares/${share.id}`],
    ] as const)
      expect([
        method,
        path,
        (await send(method, `/${id}${path}`, method === 'POST' ? {} : undefined)).status,
      ]).toEqual([method, path, 404])
    expect((await send('GET', '')).body).toEqual({ artifacts: [], nextCursor: null })
    const [audit] =
      await app.owner`select operation, ref_id from audit where tenant_id = ${tenantId}
        order by id desc limit 1`
    expect({ ...audit }).toEqual({ operation: 'agent.artifacts.remove', ref_id: id })
  })
})

describe('the list', () => {
  test('is newest first, by pages whose cursor is a time, and takes filters', async () => {
    const { send, make } = await setUp()
    const [job, conversation] = [newId(), newId()]
    const made: string[] = []
    for (const changes of [
      {},
      { kind: 'data' as const },
      { job_id: job },
      { conversation_id: conversation },
      {},
    ])
      made.unshift((await make(changes)).id)
    const pages: string[][] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { status, body } = await send(
        'GET',
        `?limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      expect(status).toBe(200)
      pages.push(body.artifacts.map(({ id }: { id: string }) => id))
      cursor = body.nextCursor
      if (cursor !== null) expect(cursor).toBe(body.artifacts.at(-1).createdAt)
    }
    expect(pages).toEqual([made.slice(0, 2), made.slice(2, 4), made.slice(4)])
    const filtered = async (query: string) =>
      (await send('GET', `?${query}`)).body.artifacts.map(({ id }: { id: string }) => id)
    expect(await filtered('kind=data')).toEqual([made[3]!])
    expect(await filtered(`jobId=${job}`)).toEqual([made[2]!])
    expect(await filtered(`conversationId=${conversation}`)).toEqual([made[1]!])
    expect(await filtered('source=browser')).toEqual([])
    expect(await filtered('cursor=1999-01-01T00:00:00Z')).toEqual([])
  })

  test('of many that were made at once has no two of one millisecond', async () => {
    const { make, send } = await setUp()
    const all = await Promise.all(Array.from({ length: 40 }, () => make()))
    expect(new Set(all.map(({ created_at }) => created_at.getTime())).size).toBe(40)
    const listed = (await send('GET', '?limit=100')).body.artifacts.map(
      ({ createdAt }: { createdAt: string }) => createdAt,
    )
    expect(listed).toEqual([...new Set<string>(listed)].sort().reverse())
  })
})

describe('of a record', () => {
  test('a report becomes Markdown, and says what it was made of', async () => {
    const { send, tenantId, fetched, as } = await setUp()
    const { id: recordId } = await makeReport({ app, tenantId })
    const { status, body } = await send(
      'POST',
      '',
      { record: 'report', recordId },
      await as('editor'),
    )
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
    const sample = {
      items: 0,
      too_young: 0,
      impressions: 0,
      reactions: 0,
      from: null,
      to: null,
      comparisons: 0,
    }
    const none = {
      worked: [],
      flopped: [],
      hypotheses: [],
      best: [],
      worst: [],
      learnings: [],
      not_added: [],
    }
    const result = { sample, ...none, not_enough_data: null }
    await write({ app, tenantId }, { writes: [insertGrowthAudit(audit)] })
    expect(
      (await send('POST', '', { record: 'audit', recordId: audit.id })).body.error,
    ).toMatchObject({
      code: 'conflict',
      message: 'the audit is queued; only a ready one can be made into an artifact',
    })
    await write(
      { app, tenantId },
      { writes: [saveGrowthAudit({ ...audit, status: 'ready', result })] },
    )
    const { body } = await send('POST', '', { record: 'audit', recordId: audit.id })
    expect(body.artifact).toMatchObject({
      kind: 'data',
      mimeType: 'application/json',
      createdByUserId: null,
    })
    expect(await (await fetched(body.artifact.id)).json()).toMatchObject({
      id: audit.id,
      days: 30,
      result,
    })
  })

  test('one that is missing, of another workspace or not ready makes nothing', async () => {
    const { send, tenantId } = await setUp()
    const { id: others } = await makeReport({ app, tenantId: (await setUp()).tenantId })
    for (const recordId of [newId(), others])
      expect((await send('POST', '', { record: 'report', recordId })).status).toBe(404)
    const { id: queued } = await makeReport({ app, tenantId }, { status: 'queued', markdown: null })
    expect((await send('POST', '', { record: 'report', recordId: queued })).status).toBe(409)
    expect(await app.owner`select 1 from file where tenant_id = ${tenantId}`).toHaveLength(0)
  })
})
