/**
 * The plan of a search: whatever it is asked, it reads rows of words by their index, under
 * row-level security.
 */
import { beforeAll, expect, test } from 'bun:test'
import { searchPassages } from '#store/agent/document-search'
import { type Db, openDb } from '#store/engine/db'
import { planOf, takenBack, vacuum } from '#test/support/database/plans'
import { use, useApp } from '#test/support/use'

const app = useApp({ newDatabase: true })
const db: Db = use(() => openDb({ ...app.options, max: 1 }))

/** So many documents of a passage each, with words that all have and words of their own. */
const fill = async (tenantId: string, documents: number): Promise<void> => {
  await app.owner`with made as (
      insert into document (id, tenant_id, file_name, mime_type, content, byte_size, length, sha256,
        metadata, trusted, status, passages,
        configuration, author, created_at, updated_at)
      select gen_random_uuid(), ${tenantId}, 'a.txt', 'text/plain', 'parcel', 6, 6, n, '{}', false,
        'ready', 1, 'english', '{}', now(), now()
      from generate_series(1, ${documents}) n returning id),
    cut as (insert into document_passage (tenant_id, document_id, number, path, start_at, end_at,
      text)
      select ${tenantId}, id, 0, '[]', 0, 6, 'parcel' from made)
    insert into document_word (tenant_id, word, document_id, block, passages)
      select ${tenantId}, case when n = 0 then 'parcel'
        else 'w' || n || substr(id::text, 1, 2) end, id, 0, 1 from made, generate_series(0, 20) n`
}

beforeAll(async () => {
  for (let n = 0; n < 3; n++) await fill((await app.newWorkspace()).tenantId, 1_000)
  await fill(app.tenantId, 1_000)
  await vacuum(app.owner, 'document', 'document_passage', 'document_word')
})

test.each(['parcel', 'parcel w1ab', 'nothing', 'w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13'])(
  '%s',
  async (words) => {
    const nodes = await takenBack(db, app.tenantId, (sql) =>
      planOf(sql, searchPassages(words, 10).query(sql)),
    )
    const reads = (table: string) => nodes.filter((node) => node['Relation Name'] === table)
    for (const table of ['document_word', 'document_passage'])
      for (const node of reads(table))
        expect([table, node['Node Type']]).not.toEqual([table, 'Seq Scan'])
    const byWords = nodes.filter((node) => node['Index Name'] === 'document_word_pkey')
    expect(byWords.length).toBe(3)
    for (const node of byWords) expect(node['Index Cond']).toMatch(/tenant_id = .*word = /)
    expect(
      nodes
        .filter((node) => node['Index Name'] === 'document_passage_pkey')
        .map((node) => node['Index Cond']),
    ).toEqual([expect.stringMatching(/tenant_id = .*document_id = .*number = /)])
  },
)
