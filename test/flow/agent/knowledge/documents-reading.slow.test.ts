/**
 * How documents are read: what becomes of odd ones, of processes that die meanwhile, and of
 * documents that are deleted.
 */
import { describe, expect, test } from 'bun:test'
import { BLOCK, documentLimits } from '#domain/agent/knowledge/document'
import { testStops } from '#test/support/actors/stops'
import { documentStory, makeDocument } from '#test/support/agent/documents'
import { brokenInvariants } from '#test/support/agent/invariants'
import { useSuccession } from '#test/support/agent/succession'
import { type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { eventually } from '#test/support/eventually'
import { useApp } from '#test/support/use'

const stops = testStops()
const app = useApp({ overrides: { failpoints: stops.at } })

const paragraphs = (count: number) =>
  Array.from(
    { length: count },
    (_, n) => `Paragraph number${n} ${'of some words '.repeat(70)}`,
  ).join('\n\n')

const odd: [what: string, content: string, expected: object][] = [
  ['a megabyte on one line', 'parcel '.repeat(149_000), { status: 'ready', passages: 872 }],
  ['a megabyte without a space', 'a'.repeat(1_000_000), { status: 'ready', passages: 834 }],
  [
    'a thousand headings',
    '# Heading\n\nIts text.\n\n'.repeat(1_000),
    { status: 'ready', passages: 1_000 },
  ],
  ['headings alone', '# a\n'.repeat(20_000), { status: 'ready' }],
  [
    'mixed scripts',
    'Parcels 返品は三十日以内に。 ประเทศไทยสวยงาม Посылки שלום 👩‍👩‍👧‍👦 '.repeat(500),
    { status: 'ready' },
  ],
  [
    'markup alone',
    '---\n\n***\n\n```\n```\n',
    { status: 'failed', error: 'no_text: it has no letters or digits' },
  ],
  ['blanks', ' \n\t\n', { status: 'failed', error: 'no_text: it has no letters or digits' }],
  [
    'more headings than text',
    '# a\nb\n'.repeat(documentLimits.passages + 1),
    {
      status: 'failed',
      error: 'too_many_passages: it has more than 4096; divide it, or use fewer headings',
    },
  ],
]
test.each(odd)('%s is ready, or says why not', async (_, content, expected) => {
  const { added } = await documentStory(app)
  expect(await added({ content })).toMatchObject(expected)
})

/** All that reading a document has made. */
const madeOf = async ({ owner }: Pick<TestApp, 'owner'>, id: string) => ({
  passages: await owner`select number, path, start_at, end_at, text from document_passage
      where document_id = ${id} order by number`,
  words: await owner`select word, block, passages::text from document_word where document_id = ${id}
      order by word, block`,
})

const statusOf = async (
  at: Pick<TestApp, 'send'>,
  key: string,
  id: string,
): Promise<{ status: string }> =>
  (
    (await at.send('GET', `/api/v1/documents/${id}?at=0`, { key })).body as unknown as {
      document: { status: string }
    }
  ).document

const LONG = paragraphs(3 * BLOCK - 10)

test('a block of passages is one commit, and all of them are those of the content', async () => {
  const { added, tenantId } = await documentStory(app)
  const { id, passages, content } = await added({ content: LONG })
  const made = await madeOf(app, id)
  expect(made.passages).toHaveLength(passages)
  for (const { start_at, end_at, text } of made.passages)
    expect(content.slice(start_at, end_at)).toBe(text)
  expect(new Set(made.words.map(({ block }) => block))).toEqual(new Set([0, 1, 2]))
  const [work] =
    await app.owner`select count(*)::int as rows from work where tenant_id = ${tenantId}`
  expect(work!.rows).toBe(0)
})

describe('a process that dies', () => {
  const dying = testStops()
  const processes = useSuccession({ overrides: { failpoints: dying.at } })
  const ended = (key: string, id: string, ...ends: string[]) =>
    eventually(
      () => statusOf(processes.running, key, id),
      ({ status }) => ends.includes(status),
    )

  test.each([
    ['when it has claimed a document', 'ingest.claimed', 1],
    ['when the first block is cut', 'ingest.cut', 1],
    ['when the second block is cut', 'ingest.cut', 2],
    ['when it settles a block', 'letter.deciding:ingest.settle', 2],
  ])('%s: another one ends with the same passages and words', async (_, name, nth) => {
    const { add, key } = await documentStory(processes.running)
    const stopped = dying.stopNext(name, nth)
    const { id } = (await add({ content: LONG })).body.document
    const goOn = await stopped
    const next = await processes.die()
    expect(await ended(key, id, 'ready', 'failed')).toMatchObject({ status: 'ready' })
    goOn()
    const other = await (await documentStory(next)).added({ content: LONG })
    expect(await madeOf(next, id)).toEqual(await madeOf(next, other.id))
    expect(await brokenInvariants(next.owner)).toEqual([])
  })

  test('three times with a document has failed it, which can be read again', async () => {
    let stopped = dying.stopNext('ingest.claimed')
    const { add, key } = await documentStory(processes.running)
    const { id } = (await add()).body.document
    for (let death = 1; death <= 3; death++) {
      await stopped
      if (death < 3) stopped = dying.stopNext('ingest.claimed')
      await processes.die()
    }
    expect(await ended(key, id, 'ready', 'failed')).toMatchObject({
      status: 'failed',
      error: 'process_died: the process that read it died 3 times',
    })
    await processes.running.send('POST', `/api/v1/documents/${id}/retry`, { key })
    expect(await ended(key, id, 'ready')).toMatchObject({ error: null })
  })
})

test.each(['ingest.claimed', 'ingest.cut'])(
  'a document deleted at %s leaves nothing',
  async (name) => {
    const { add, send, tenantId } = await documentStory(app)
    // The second block, so that there is a first one to remove.
    let stopped = stops.stopNext(name)
    const { id } = (await add({ content: LONG })).body.document
    const first = await stopped
    stopped = stops.stopNext(name)
    first()
    const goOn = await stopped
    expect((await send('DELETE', `/${id}`)).status).toBe(200)
    goOn()
    const left = async () => {
      const [row] = await app.owner`select (select count(*) from document_word
          where document_id = ${id})::int as words,
      (select count(*) from document_passage where document_id = ${id})::int as passages,
      (select count(*) from work where tenant_id = ${tenantId})::int as work`
      return row!
    }
    expect(await eventually(left, ({ words, work }) => words + work === 0)).toEqual({
      words: 0,
      passages: 0,
      work: 0,
    })
    expect(await brokenInvariants(app.owner)).toEqual([])
  },
)

test('what a failed reading has left is not found, and goes when it is read again', async () => {
  const { search, send, over, ...place } = await documentStory(app)
  const { id } = await makeDocument(place, { content: 'Zebras come back.' })
  await app.owner`update document set status = 'failed', error = 'internal: died',
    content = 'Lions stay.' where id = ${id}`
  expect(await search('zebra')).toEqual([])
  await send('POST', `/${id}/retry`)
  await over(id)
  expect([await search('zebra'), (await search('lion')).length]).toEqual([[], 1])
})

test('an orderly stop counts as no death', async () => {
  await using stack = new AsyncDisposableStack()
  const db = stack.use(await freshDb())
  let [key, id] = ['', '']
  for (let round = 0; round < 4; round++) {
    const stop = testStops()
    const stopped = stop.stopNext('ingest.claimed')
    await using stopping = await testApp({
      database: db.options,
      overrides: { failpoints: stop.at },
    })
    if (round === 0) {
      const story = await documentStory(stopping)
      key = story.key
      id = (await story.add()).body.document.id
    }
    const goOn = await stopped
    // A stop tells the lanes before it waits for anything. Had the reading gone on first, there
    // would be nothing for the next round to claim.
    const halted = stopping.workplace.runtime[Symbol.asyncDispose]()
    goOn()
    await halted
  }
  const last = stack.use(await testApp({ database: db.options }))
  const show = () => statusOf(last, key, id)
  expect(
    await eventually(show, ({ status }) => status !== 'queued' && status !== 'processing'),
  ).toMatchObject({ status: 'ready' })
})
