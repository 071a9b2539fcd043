/** Items of an earlier version, which had no words. */
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { searchWords } from '#domain/growth/drafting/item-words'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { migrate } from '#store/engine/migrate'
import { emptyDb } from '#test/support/database/db'
import { migrateOnly } from '#test/support/database/migrations'

const TEXTS = [
  'Plain "words", as EVER; 3 of them (and_one more) ~ `x` | {y} [z]',
  '“late deliveries”—cost us…',
  'Guests of l’hôtel‚ and ¿quién? #Tag @handle',
  'Cafe\u0301, re\u00ADfunds\u00A0and 🎉parcels❤️ ＷＩＤＥ',
  'a'.repeat(100),
  '🎉',
]

test('are found by their words once the database is of this version', async () => {
  await using database = await emptyDb()
  await migrateOnly(database.options, (name) => name < 'sql/000066')
  const [owner, tenant] = [postgres({ ...database.options, max: 1, onnotice: () => {} }), newId()]
  try {
    await owner`select set_config('app.tenant', ${tenant}, false)`
    const insert = (id: string, body: string, status = 'drafted') =>
      owner`insert into item (id, kind, status, body, format, hook, rationale, stories, learnings,
        length, created_at, updated_at, deleted_at, deleted_status)
        values (${id}, 'post', ${status}, ${body}, 'point', 'none', '', '[]', '[]', 1, now(), now(),
          ${status === 'deleted' ? new Date() : null},
          ${status === 'deleted' ? 'drafted' : null})`
    const ids = TEXTS.map(() => newId())
    for (const [n, text] of TEXTS.entries()) await insert(ids[n]!, text)
    await insert(newId(), 'deleted', 'deleted')
    await migrate(database.options, createLog('silent'))
    const rows = await owner<
      { item_id: string; words: string[] }[]
    >`select item_id, array_agg(word order by word) as words from item_word where shelf = 'open'
      group by 1`
    const words = new Map(rows.map((row) => [row.item_id, row.words]))
    expect(ids.map((id) => words.get(id) ?? [])).toEqual(
      TEXTS.map((text) => searchWords(text).sort()),
    )
    expect(words.size).toBe(TEXTS.length - 1)
  } finally {
    await owner.end()
  }
})

test('stand on the shelf of their item’s state', async () => {
  await using database = await emptyDb()
  await migrateOnly(database.options, (name) => name < 'sql/000073')
  const owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
  try {
    for (const tenant of [newId(), newId()]) {
      await owner`select set_config('app.tenant', ${tenant}, false)`
      await owner`with made as (insert into item (id, kind, status, body, format, hook, rationale,
        stories, learnings, length, posted_at, created_at, updated_at)
          select gen_random_uuid(), 'post', s, 'text', 'point', 'none', '', '[]', '[]', 1, case
            when s = 'posted' then now() end, now() - interval '1 day', now()
          from unnest(array['drafted', 'approved', 'posted', 'rejected', 'publish_failed']) s
            returning id)
        insert into item_word (word, item_id) select w, id from made, unnest(array['one', 'two']) w`
    }
    await migrate(database.options, createLog('silent'))
    const stand = await owner`select i.status, w.word, w.shelf, w.at is not distinct from case
        when w.shelf <> 'open' then i.at end as is_timed, count(*)::int as items
      from item_word w join item i on i.id = w.item_id group by 1, 2, 3, 4 order by 1, 2`
    const shelves = {
      approved: 'open',
      drafted: 'open',
      posted: 'posted',
      publish_failed: 'open',
      rejected: 'rejected',
    }
    const expected = Object.entries(shelves).flatMap(([status, shelf]) =>
      ['one', 'two'].map((word) => ({ status, word, shelf, is_timed: true, items: 2 })),
    )
    expect([...stand]).toEqual(expected as never)
  } finally {
    await owner.end()
  }
})
