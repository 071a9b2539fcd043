/** Documents: the routes with each of their answers. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { changePlan } from '#store/app/tenants'
import { documentStory, makeDocument } from '#test/support/agent/documents'
import { eventually } from '#test/support/eventually'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
const setUp = () => documentStory(app)

describe('adding a document', () => {
  test('answers 201 with the document, which is then read', async () => {
    const { add, over, send } = await setUp()
    const content = '# Returns\n\nWithin thirty days.'
    const { status, body } = await add({ content, metadata: { team: 'care' } })
    const document = {
      id: expect.any(String),
      fileName: 'returns.md',
      mimeType: 'text/markdown',
      byteSize: 30,
      length: 30,
      sha256: expect.any(String),
      metadata: { team: 'care' },
      trusted: false,
      status: 'queued',
      error: null,
      passages: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    }
    expect([status, body]).toEqual([201, { document }])
    const { sha256, createdAt } = body.document
    expect(sha256).toBe(new Bun.CryptoHasher('sha256').update(content).digest('hex'))
    const { updatedAt: _, ...after } = await over(body.document.id)
    const { updatedAt: __, ...as } = document
    expect(after).toEqual({ ...as, sha256, createdAt, status: 'ready', passages: 1, content })
    expect((await send('GET', '')).body).toMatchObject({
      documents: [{ id: body.document.id }],
      nextCursor: null,
    })
  })

  test.each([
    ['notes.md', undefined, 'text/markdown'],
    ['NOTES.MARKDOWN', undefined, 'text/markdown'],
    ['notes.txt', undefined, 'text/plain'],
    ['notes', 'text/markdown', 'text/markdown'],
    ['notes.md', 'text/plain', 'text/plain'],
  ])('%s, given as %s, is %s', async (fileName, mimeType, expected) => {
    const { add } = await setUp()
    expect((await add({ fileName, mimeType })).body.document.mimeType).toBe(expected)
  })

  const wrong: [what: string, body: object, path: string][] = [
    ['a name with a backslash', { fileName: 'a\\b' }, 'fileName'],
    ['a name of two dots', { fileName: '..' }, 'fileName'],
    ['a name with a line break', { fileName: 'a\nb' }, 'fileName'],
    ['a name that reorders itself', { fileName: 'a\u202egnp.md' }, 'fileName'],
    ['an invisible name', { fileName: '\u2800' }, 'fileName'],
    ['a blank name', { fileName: '  ' }, 'fileName'],
    ['metadata of 17 KiB', { metadata: { x: 'a'.repeat(17_000) } }, 'metadata'],
    ['trust that is no yes or no', { metadata: { trusted: 'yes' } }, 'metadata.trusted'],
  ]
  test.each(wrong)('with %s is 400, naming it', async (_, body, path) => {
    const { add } = await setUp()
    const reply = await add(body)
    expect([reply.status, reply.body.error.details[0].path]).toEqual([400, path])
  })

  test('takes a name of 240 characters, and a content of nearly 1 MiB', async () => {
    const { add } = await setUp()
    expect((await add({ fileName: 'ü'.repeat(240) })).status).toBe(201)
    expect((await add({ content: 'word '.repeat(209_000) })).status).toBe(201)
    expect((await add({ content: 'word '.repeat(210_000) })).status).toBe(413)
  })

  test('is 409 for content that is there, naming the document, whatever the name', async () => {
    const { add, send } = await setUp()
    const content = `Equal ${newId()}`
    const { id } = (await add({ content })).body.document
    const { status, body } = await add({ content, fileName: 'other.md' })
    expect([status, body.error.code, body.error.message]).toEqual([
      409,
      'conflict',
      expect.stringContaining(`${id} already, returns.md`),
    ])
    expect((await (await setUp()).add({ content })).status).toBe(201)
    await send('DELETE', `/${id}`)
    expect((await add({ content })).status).toBe(201)
  })

  test('is 409 beyond the limit of the plan, which an operator can change', async () => {
    const { tenantId, add, send } = await setUp()
    await changePlan(app.workplace.db, tenantId, (before) => ({
      ...before,
      overrides: { documents: 1 },
    }))
    const { id } = (await add()).body.document
    const { status, body } = await add()
    expect([status, body.error.message]).toEqual([
      409,
      "the plan's limit of 1 documents is reached; delete one first",
    ])
    await send('DELETE', `/${id}`)
    expect((await add()).status).toBe(201)
  })
})

describe('a document is trusted', () => {
  const trusting = { metadata: { trusted: true } }
  test('if a person says so, or the owner by a key, and never by itself', async () => {
    const { add, tenantId } = await setUp()
    const editor = await signedIn(app, tenantId, 'editor')
    expect((await add()).body.document.trusted).toBe(false)
    expect((await add({}, editor.key)).body.document.trusted).toBe(false)
    expect((await add({ metadata: { trusted: false } })).body.document.trusted).toBe(false)
    expect((await add(trusting, editor.key)).body.document.trusted).toBe(true)
    expect((await add(trusting)).body.document.trusted).toBe(true)
  })

  test('and not by the word of an editor’s key, which is refused', async () => {
    const { add, tenantId } = await setUp()
    const { key } = await signedIn(app, tenantId, 'editor')
    const body = { name: 'Own', scopes: ['api:read', 'api:write', 'workspace:use'] }
    const { api_key } = (await app.send('POST', '/api/v1/app/keys', { key, body })).body as {
      api_key: string
    }
    expect((await add(trusting, api_key)).status).toBe(403)
    expect((await add({}, api_key)).status).toBe(201)
  })
})

describe('a document', () => {
  test('is listed newest first, by pages, state and name', async () => {
    const { send, ...place } = await setUp()
    const ids: string[] = []
    for (const fileName of ['a.md', 'b.md', 'c.md'])
      ids.unshift((await makeDocument(place, { fileName })).id)
    const { id: failed } = await makeDocument(place, { status: 'failed', fileName: 'a.md' })
    const list = async (query = '') => {
      const { body } = await send('GET', query)
      return { ids: body.documents.map(({ id }: { id: string }) => id), next: body.nextCursor }
    }
    const first = await list('?limit=2')
    expect(first.ids).toEqual([failed, ids[0]!])
    expect((await list(`?limit=2&cursor=${first.next}`)).ids).toEqual([ids[1]!, ids[2]!])
    expect((await list('?status=failed')).ids).toEqual([failed])
    expect((await list('?fileName=a.md')).ids).toEqual([failed, ids[2]!])
  })

  test('opens at a place, with the passage there', async () => {
    const { send, ...place } = await setUp()
    const content = '# One\n\nFirst text.\n\n# Two\n\nSecond text.'
    const { id } = await makeDocument(place, { content })
    const at = (offset: number) => send('GET', `/${id}?at=${offset}`)
    expect((await at(0)).body).toMatchObject({
      document: { content: null },
      passage: { number: 0, heading: 'One', start: 0, end: 18 },
    })
    const second = content.indexOf('# Two')
    const { passage } = (await at(second)).body
    expect(passage).toMatchObject({
      number: 1,
      heading: 'Two',
      start: second,
      text: content.slice(second),
    })
    expect(passage.cite).toBe(
      `[returns.md, Two, ${second}–${content.length}](${app.workplace.world.identity.publicUrl}/documents/${id}?at=${second})`,
    )
    expect((await at(second - 1)).body.passage.number).toBe(0)
    const beyond = await at(content.length)
    expect([beyond.status, beyond.body.error.details[0].path]).toEqual([400, 'at'])
    expect((await send('GET', `/${id}`)).body).toMatchObject({
      document: { content },
      passage: null,
    })
  })

  test('is retried if it has failed, with 202, and else 409', async () => {
    const { send, over, ...place } = await setUp()
    const failed = await makeDocument(place, { status: 'failed' })
    const reply = await send('POST', `/${failed.id}/retry`)
    expect([reply.status, reply.body.document.status, reply.body.document.error]).toEqual([
      202,
      'queued',
      null,
    ])
    expect(await over(failed.id)).toMatchObject({ status: 'ready', passages: 1 })
    for (const id of [failed.id, (await makeDocument(place, { status: 'queued' })).id])
      expect((await send('POST', `/${id}/retry`)).body.error.message).toMatch(
        /^cannot retry: the document is (ready|queued), not failed$/,
      )
  })

  test('is deleted with its passages and words, once', async () => {
    const { send, added, search, tenantId } = await setUp()
    const { id } = await added({ content: 'Zebras return parcels.' })
    expect(await search('zebra')).toHaveLength(1)
    expect((await send('DELETE', `/${id}`)).status).toBe(200)
    expect(await search('zebra')).toEqual([])
    expect((await send('DELETE', `/${id}`)).status).toBe(404)
    expect(await leftOf(tenantId)).toEqual([0, 0, 0])
  })
})

/** Rows of passages, of words and of work, once nothing is to be done. */
const leftOf = async (tenantId: string): Promise<number[]> => {
  const count = async () => {
    const [row] = await app.owner`select (select count(*) from document_passage
        where tenant_id = ${tenantId})::int as passages,
      (select count(*) from document_word where tenant_id = ${tenantId})::int as words,
      (select count(*) from work where tenant_id = ${tenantId})::int as work`
    return [row!.passages, row!.words, row!.work] as number[]
  }
  return eventually(count, (all) => all.every((one) => one === 0))
}
