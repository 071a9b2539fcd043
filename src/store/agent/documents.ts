import { documentRecord, type passageRecord } from '#contract/records/agent/document'
import type { RowOf } from '#contract/records/record'
import { BLOCK, type Document, type StoredPassage } from '#domain/agent/knowledge/document'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(documentRecord)

/** Whether a row of `document` is public. */
export const isPublicRow = (sql: Sql): Fragment => sql`metadata->'public' = 'true'::jsonb`

export const documentPart = (id: string) =>
  one<Document>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'd')} from document d where d.id = ${id}`,
  )

export const contentPart = (id: string) =>
  one<{ content: string }>({}, (sql) => sql`select d.content from document d where d.id = ${id}`)

interface DocumentFilter extends Page {
  status?: Document['status'] | undefined
  fileName?: string | undefined
}

/** Newest first. */
export const listDocuments =
  ({ limit, after, status, fileName }: DocumentFilter): Query<Document> =>
  (sql) =>
    sql`select ${table.columns(sql, 'd')} from document d where true ${
      after
        ? sql`and d.id <
      ${after}`
        : sql``
    }
      ${status ? sql`and d.status = ${status}` : sql``} ${
        fileName === undefined
          ? sql``
          : sql`and
        d.file_name = ${fileName}`
      }
      order by d.id desc limit ${limit + 1}`

/** How many documents there are, and how many bytes of text have yet to be read. */
export const documentStock = sure(
  one<{ count: number; pending: number }>(
    {},
    (sql) => sql`select (select count(*)::int from document) as count,
      (select coalesce(sum(byte_size), 0)::float8 from document
      where status in ('queued', 'processing')) as pending`,
  ),
)

/** The document with this content. */
export const equalDocument = (sha256: string) =>
  one<Pick<Document, 'id' | 'file_name' | 'status'>>(
    {},
    (sql) => sql`select d.id, d.file_name, d.status from document d where d.sha256 = ${sha256}`,
  )

/** The documents with these contents. */
export const equalDocuments = (hashes: readonly string[]) =>
  many<Pick<Document, 'id' | 'file_name' | 'sha256'>>(
    {},
    (sql) =>
      sql`select d.id, d.file_name, d.sha256 from document d where d.sha256 = any(${[...hashes]})`,
  )

export const insertDocument = (document: Document, content: string): Query =>
  table.insert(document, { content })

export const saveDocument = table.save

export const deleteDocument =
  (id: string): Query =>
  (sql) =>
    sql`delete from document where id = ${id}`

const passageColumns = (sql: Sql): Fragment =>
  sql`p.document_id, d.file_name, d.trusted, p.number, p.path, p.start_at, p.end_at, p.text`

/** The passages from the last one that begins at or before this place. */
export const passagesAt = (documentId: string, at: number, limit: number) =>
  many<StoredPassage>(
    {},
    (sql) => sql`select ${passageColumns(sql)} from document_passage p
      join document d on d.id = p.document_id
      where p.document_id = ${documentId} and d.status = 'ready'
        and p.number >= coalesce((select max(f.number) from document_passage f
        where f.document_id = ${documentId} and f.start_at <= ${at}), 0)
      order by p.number limit ${limit}`,
  )

/** A passage to be stored. `searched`: all the text by which it is found. */
export type NewPassage = Omit<RowOf<typeof passageRecord>, 'document_id'> & { searched: string }

export interface NewBlock {
  documentId: string
  configuration: string
  /** At most `BLOCK` of them, all of one block. */
  passages: readonly NewPassage[]
}

export const insertPassages =
  ({ documentId, passages }: NewBlock): Query =>
  (sql) =>
    sql`insert into document_passage (document_id, number, path, start_at, end_at, text, spaced)
      select ${documentId}, p.number, p.path, p.start_at, p.end_at, p.text, p.spaced
        from jsonb_to_recordset(${sql.json(passages)}::jsonb)
        as p(number int, path jsonb, start_at int, end_at int, text text, spaced text)`

/** The longest word that is searched for, in characters. */
const LONGEST_WORD = 100

/** For each lexeme of a configuration, the passages `p` in which it occurs. */
const lexemes = (sql: Sql, configuration: Fragment): Fragment =>
  sql`select l.lexeme, bit_or(1::bigint << p.bit) as passages
    from p, unnest(to_tsvector(${configuration}::regconfig, p.searched)) l group by 1`

/**
 * Inserts the words of passages. Words that the configuration knows are inserted in its form, so
 * that they are found in any of their forms. Words that it leaves out as too frequent are inserted
 * as they are, because they mean something in other languages.
 */
export const insertWords =
  ({ documentId, configuration, passages }: NewBlock): Query =>
  (sql) => {
    const given = passages.map(({ number, searched }) => ({ bit: number % BLOCK, searched }))
    return sql`insert into document_word (word, document_id, block, passages)
      select w.lexeme, ${documentId}, ${Math.floor(passages[0]!.number / BLOCK)}, bit_or(w.passages)
        from (
        with p as materialized (select bit, searched from
          jsonb_to_recordset(${sql.json(given)}::jsonb) as g(bit int, searched text))
        select * from (${lexemes(sql, sql`${configuration}`)}) f union all
        select * from (${lexemes(sql, sql`'simple'`)}) s
          where to_tsvector(${configuration}::regconfig, s.lexeme) = ''::tsvector) w
      where length(w.lexeme) <= ${LONGEST_WORD} group by w.lexeme`
  }

/** How many rows one letter removes. */
const REMOVED_AT_ONCE = 20_000

/** Whether there are passages or words of a document. The document itself may be gone. */
export const hasPassages = (documentId: string) =>
  sure(
    one<{ some: boolean }>(
      {},
      (sql) => sql`select exists (select 1 from document_word where document_id = ${documentId})
        or exists (select 1 from document_passage where document_id = ${documentId}) as some`,
    ),
  )

/** Removes some of the words of a document, and its passages. */
export const removePassages = (documentId: string): Query[] => [
  (sql) => sql`delete from document_passage where document_id = ${documentId}`,
  // Deleted by their places. By key, a table that was never analysed would take quadratic time.
  (sql) => sql`delete from document_word where ctid = any(array(
    select ctid from document_word where document_id = ${documentId} limit ${REMOVED_AT_ONCE}))`,
]
