/** The room that documents take in the database, with all that they are found by. */
import { expect, test } from 'bun:test'
import { mostOfBlock } from '#domain/agent/knowledge/document-room'
import { passagesOf } from '#domain/agent/knowledge/passages'
import { spacedOf, spacedWords } from '#kernel/spacing'
import { changePlan } from '#store/app/tenants'
import { documentStory } from '#test/support/agent/documents'
import { eventually } from '#test/support/eventually'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
/** Where added documents are never read. */
const idle = useSharedApp({ overrides: { lanes: [] } })
const MB = 1_000_000

const setUp = async (megabytes: number, place = app) => {
  const story = await documentStory(place)
  const { tenantId } = story
  await changePlan(place.workplace.db, tenantId, (before) => ({
    ...before,
    overrides: { document_mb: megabytes },
  }))
  const session = await signedIn(place, tenantId)
  const room = async () =>
    (await place.send('GET', '/api/v1/app/plan', { key: session.key })).body.plan.documents
  /** As the tables have it, row for row. */
  const counted = async () => {
    const [row] = await place.owner<{ units: number }[]>`select (
      (select coalesce(sum(document_units(byte_size)), 0) from document
        where tenant_id = ${tenantId})
      + (select coalesce(sum(passage_units(path, text, spaced)), 0) from document_passage
        where tenant_id = ${tenantId})
      + (select coalesce(sum(word_units(word)), 0) from document_word
        where tenant_id = ${tenantId}))::int as units`
    return row!.units * 16
  }
  return { ...story, room, counted }
}

/** Text of words that never come again. */
const newWords = (bytes: number): string => {
  let text = ''
  for (let n = 0; text.length < bytes; n++)
    text += `${n.toString(36).padStart(3, 'z')}${n % 200 === 199 ? '\n\n' : ' '}`
  return text
}

test('what documents take is shown in the plan, words included, and is given back when they are deleted', async () => {
  const { add, over, send, room, counted } = await setUp(50)
  expect(await room()).toEqual({ limit: 2_000, bytes_used: 0, bytes_limit: 50 * MB })
  const content = newWords(20_000)
  const { body } = await add({ content })
  await over(body.document.id)
  const { bytes_used } = await room()
  expect([bytes_used, bytes_used > 10 * content.length]).toEqual([await counted(), true])
  await send('DELETE', `/${body.document.id}`)
  const after = await eventually(
    async () => (await room()).bytes_used,
    (used) => used === 0,
  )
  expect([after, await counted()]).toEqual([0, 0])
})

test('the count is what the tables and their indexes take on disk, or a little more', async () => {
  const { add, over, room, tenantId } = await setUp(50)
  const disk = async () => {
    const [row] = await app.owner<
      { bytes: number }[]
    >`select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
      where relname in ('document', 'document_passage', 'document_word') and relkind = 'r'`
    return row!.bytes
  }
  const before = await disk()
  for (let n = 0; n < 3; n++) {
    const { body } = await add({ content: `${n}\n\n${newWords(60_000)}` })
    await over(body.document.id)
  }
  const ratio = (await room()).bytes_used / ((await disk()) - before)
  expect(ratio).toBeGreaterThan(0.85)
  expect(ratio).toBeLessThan(1.6)
  expect(tenantId).toBeString()
})

const sentences = (n: number) => `Document ${n}. ${'We pay at once. '.repeat(3_000)}`

test('a document beyond the room of the plan is 409, also when two are added at once', async () => {
  const { add } = await setUp(1, idle)
  const answers = await Promise.all([1, 2].map((n) => add({ content: sentences(n) })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  const refused = answers.find(({ status }) => status === 409)!
  expect(refused.body.error.message).toContain('1.0 MB')
})

test('what is read takes what it takes, which for a text that repeats itself is little', async () => {
  const { add, over, room } = await setUp(1)
  const { body } = await add({ content: sentences(1) })
  await over(body.document.id)
  expect((await room()).bytes_used).toBeLessThan(MB / 2)
  expect((await add({ content: sentences(2) })).status).toBe(201)
})

test('a block never takes more than is thought beforehand, whatever it consists of', async () => {
  const { add, over, room } = await setUp(50)
  const odd = (n: number) => [
    `${n}a.b${n}.co/c${n}?d=${n}`,
    `x${n}-y${n}-z${n}`,
    `o${n}@p${n}.example`,
    `/var/q${n}/r${n}.txt`,
    `漢字${n}`,
    `-1.${n}e5`,
  ]
  const content = Array.from({ length: 150 }, (_, n) => odd(n).join(' ')).join('\n\n')
  const { body } = await add({ content })
  await over(body.document.id)
  const passages = [...passagesOf(content, true)].flatMap((passage) => {
    if (!passage) return []
    const { path, start, end } = passage
    const text = content.slice(start, end)
    return [
      { path, text, spaced: spacedOf(text), searched: spacedWords([...path, text].join('\n')) },
    ]
  })
  const { bytes_used } = await room()
  const most = mostOfBlock(passages) + content.length + 600
  expect(bytes_used).toBeLessThanOrEqual(most)
  expect(most).toBeLessThan(3 * bytes_used)
})

test('a text of ever new words never takes more than the room: reading it ends, and its words are removed', async () => {
  const { add, over, room, counted, send } = await setUp(1)
  const { status, body } = await add({ content: newWords(70_000) })
  expect(status).toBe(201)
  const { id } = body.document
  const document = await over(id)
  expect([document.status, document.error]).toEqual(['failed', expect.stringContaining('no_room')])
  const used = await eventually(
    async () => (await room()).bytes_used,
    (bytes) => bytes < 80_000,
  )
  expect([used, used < 80_000]).toEqual([await counted(), true])
  expect((await add({ content: 'Short.' })).status).toBe(201)
  expect((await send('POST', `/${id}/retry`)).status).toBe(202)
})
