/**
 * Memories and playbooks of an earlier version, whose words were found beside nothing but ASCII.
 */
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { MARKS, spacedOf, withMarks } from '#kernel/spacing'
import { migrate } from '#store/engine/migrate'
import { emptyDb } from '#test/support/database/db'
import { migrateOnly } from '#test/support/database/migrations'

const TEXTS = [
  'Plain "words", as ever',
  '“late deliveries”—cost us…',
  'Guests of l’hôtel‚ and ¿quién?',
  'Cafe\u0301, re\u00ADfunds\u00A0and ½ of 🎉parcels❤️',
  '«Ёлки» ½ ² µ ª ™ ①',
  '「値段」！',
]

test('are found by words beside quotation marks, dashes and emoji once the database is of this version', async () => {
  await using database = await emptyDb()
  await migrateOnly(database.options, (name) => name < 'sql/000055')
  const [owner, tenant] = [postgres({ ...database.options, max: 1, onnotice: () => {} }), newId()]
  try {
    await owner`select set_config('app.tenant', ${tenant}, false)`
    const playbook = newId()
    await owner`insert into playbook (id, slug, name, pinned, status, created_at, updated_at)
      values (${playbook}, 'support', 'Support', false, 'active', now(), now())`
    for (const [n, text] of TEXTS.entries()) {
      await owner`insert into agent_memory (id, scope, text, text_hash, words, configuration,
        created_at, updated_at)
        values (${newId()}, 'workspace', ${text}, ${n}, to_tsvector('english', ${text}), 'english',
          now(), now())`
      await owner`insert into playbook_version (id, playbook_id, number, content, state, author,
        created_at, updated_at)
        values (${newId()}, ${playbook}, ${n}, ${text}, 'draft', '{}', now(), now())`
    }
    await migrate(database.options, createLog('silent'))
    const memories =
      await owner`select text, spaced, words = to_tsvector('english', coalesce(spaced, text)) as
        searched
      from agent_memory order by id`
    expect(memories.map((row) => ({ ...row }))).toEqual(
      TEXTS.map((text) => ({ text, spaced: spacedInSql(text), searched: true })),
    )
    const versions = await owner`select content, spaced from playbook_version order by number`
    expect(versions.map((row) => ({ ...row }))).toEqual(
      TEXTS.map((content) => ({ content, spaced: spacedInSql(content) })),
    )
    const late =
      await owner`select spaced from agent_memory where words @@ plainto_tsquery('english', 'late')`
    expect(late).toHaveLength(1)
    expect(withMarks(TEXTS[1]!, late[0]!.spaced.replace('late', MARKS.join('late')))).toBe(
      TEXTS[1]!.replace('late', MARKS.join('late')),
    )
    expect(
      await owner`select from agent_memory where words @@ plainto_tsquery('english', 'hôtel quién')`,
    ).toHaveLength(1)
    expect(
      await owner`select from agent_memory where words @@ plainto_tsquery('english',
        'café refund parcel')`,
    ).toHaveLength(1)
  } finally {
    await owner.end()
  }
})

/** As the server does it, but that words of scripts without spaces stay together. */
const spacedInSql = (text: string): string | null =>
  text.startsWith('「') ? ' 値段  ' : spacedOf(text)
