/** Queries for any of the words of a text that anybody may have written. */
import { expect, test } from 'bun:test'
import { openDb } from '#store/engine/db'
import { anyWord } from '#store/engine/text-search'
import { freshDb } from '#test/support/database/db'
import { use } from '#test/support/use'

const database = use(freshDb)
const db = use(() => openDb({ ...database.options, max: 1 }))

const ask = async (
  text: string,
  among = '',
): Promise<{ words: number; found: boolean; marked: string }> =>
  await db.system(async (sql) => {
    const query = anyWord(sql, sql`'simple'`, text)
    const [row] = await sql<{
      words: number
      found: boolean
      marked: string
    }>`select (numnode(q.query) + 1) / 2 as words,
      to_tsvector('simple', ${among}) @@ q.query as found,
        ts_headline('simple', ${among}, q.query, 'HighlightAll=true, StartSel=<, StopSel=>') as
        marked
      from (select ${query} as query) q`
    return row!
  })

test('finds a text that has any of the words, whatever characters they have', async () => {
  const words = "it's a\\b http://a.b/?x=1&y=2 side-door x@y.de 3.5"
  for (const word of ['it', 'b', 'a.b/?x=1&y=2', 'side-door', 'door', 'x@y.de', '3.5'])
    expect(await ask(words, word)).toMatchObject({ found: true })
  expect(await ask(words, 'nothing')).toMatchObject({ found: false })
  for (const empty of ['', ' ', '?!'])
    expect(await ask(empty, 'a')).toMatchObject({ words: 0, found: false })
})

test('a word that is said thousands of times is one word, and no more than a hundred are looked for', async () => {
  expect(await ask('1, '.repeat(3_333), '1, '.repeat(400))).toMatchObject({
    words: 1,
    found: true,
    marked: '<1>, '.repeat(400),
  })
  const many = Array.from({ length: 2_000 }, (_, n) => `w${n}`).join(' ')
  expect(await ask(many, 'w99')).toMatchObject({ words: 100, found: true })
  expect(await ask(many, 'w1999')).toMatchObject({ words: 100, found: false })
})
