/**
 * Search of passages by words. Rows of words are only compared by equality, for which row-level
 * security still allows the index. Each step is bounded: the rarest words choose the candidates,
 * and the best of these go on to the next step, down to the passages that are shown.
 */
import type { StoredPassage } from '#domain/agent/knowledge/document'
import { MARKS } from '#kernel/spacing'
import type { Fragment, Sql } from '../engine/db.ts'
import { many } from '../engine/load.ts'
import { anyWord } from '../engine/text-search.ts'
import { isPublicRow } from './documents.ts'

export interface FoundPassage extends StoredPassage {
  score: number
  /**
   * The text with marks around the words of the query, and with spaces between words if its script
   * has none.
   */
  marked: string
}

const searchLimits = {
  /** How many words of a query are looked for. The rarest ones are taken. */
  words: 12,
  /** How far the rows of a word are counted. All words with more of them weigh the same. */
  counted: 5_000,
  /** How many rows of words choose the candidates, unless the rarest word alone has more. */
  rows: 2_000,
  /** How many blocks of passages are examined. */
  blocks: 100,
  /** How many passages have their text compared with the query. */
  compared: 30,
} as const

/**
 * For whom the search is. A stranger finds only public documents, and learns nothing about the
 * words of others.
 */
interface Within {
  publicOnly?: boolean
}

const onlyShown = (sql: Sql, { publicOnly = false }: Within): Fragment =>
  publicOnly ? sql`and w.document_id in (select id from shown)` : sql``

const matchingWords = (sql: Sql, words: string, within: Within): Fragment => sql`
  ${within.publicOnly ? sql`shown as materialized (select id from document where ${isPublicRow(sql)}),` : sql``}
  configurations as materialized (select distinct configuration from document),
  asked as materialized (
    select l.lexeme as word from configurations c, unnest(to_tsvector(c.configuration::regconfig, ${words})) l
    union select s.lexeme from configurations c, unnest(to_tsvector('simple', ${words})) s
      where to_tsvector(c.configuration::regconfig, s.lexeme) = ''::tsvector),
  counted as materialized (
    select a.word, n.rows, ln(1 + ${searchLimits.counted}::float8 / n.rows) as weight from asked a cross join lateral (
      select count(*) as rows from (select 1 from document_word w where w.word = a.word ${onlyShown(sql, within)} limit ${searchLimits.counted}) r) n
    where n.rows > 0 order by n.rows, a.word limit ${searchLimits.words}),
  ordered as materialized (select *, sum(rows) over upto as upto, row_number() over upto as nth from counted
    window upto as (order by rows, word rows unbounded preceding)),
  choosing as materialized (select * from ordered where nth = 1 or upto <= ${searchLimits.rows}),
  others as materialized (select * from ordered where nth > 1 and upto > ${searchLimits.rows})`

/**
 * The rows of the words: all rows of the words that choose the candidates, and of the other words
 * only those of the candidates.
 */
const hits = (sql: Sql, within: Within): Fragment => sql`
  chosen as materialized (select c.word, c.weight, r.* from choosing c cross join lateral (
    select w.document_id, w.block, w.passages from document_word w
      where w.word = c.word ${onlyShown(sql, within)}
    order by w.document_id desc, w.block desc limit ${searchLimits.rows}) r),
  candidates as materialized (select distinct document_id, block from chosen),
  hits as materialized (select * from chosen union all
    select o.word, o.weight, b.document_id, b.block, r.passages from candidates b
      cross join others o cross join lateral (
      select w.passages from document_word w where w.word = o.word and w.document_id = b.document_id
        and w.block = b.block limit 1) r)`

/** Blocks with a passage that has all the words of the block come first. */
const passages = (sql: Sql, limit: number): Fragment => sql`
  blocks as materialized (select h.document_id, h.block,
    sum(h.weight) * (case when bit_and(h.passages) <> 0 then 2 else 1 end) as most
    from hits h join document d on d.id = h.document_id and d.status = 'ready'
    group by h.document_id, h.block order by most desc, h.document_id desc, h.block
      limit ${searchLimits.blocks}),
  scored as materialized (select h.document_id, h.block * 64 + bit as number, sum(h.weight) as score
    from blocks b join hits h on h.document_id = b.document_id and h.block = b.block
      cross join generate_series(0, 63) bit
    where (h.passages >> bit) & 1 = 1 group by 1, 2 order by score desc, h.document_id desc, number
      limit ${Math.max(limit, searchLimits.compared)})`

/**
 * The best passages. Of equal ones, those of the newest document come first. `words`: with spaces
 * between words, also in scripts that have none.
 */
export const searchPassages = (words: string, limit: number, within: Within = {}) =>
  many<FoundPassage>({}, (sql) => {
    const query = anyWord(sql, sql`d.configuration`, words)
    const marks = `HighlightAll=true, StartSel=${MARKS[0]}, StopSel=${MARKS[1]}`
    return sql`with ${matchingWords(sql, words, within)}, ${hits(sql, within)}, ${passages(sql, limit)},
      best as materialized (select p.document_id, d.file_name, d.trusted, p.number, p.path,
        p.start_at, p.end_at, p.text, q.text as spaced,
          d.configuration, s.score * (1 + ts_rank_cd(to_tsvector(d.configuration::regconfig,
            q.text), ${query}, 32)) as score
        from scored s join document d on d.id = s.document_id
        cross join lateral (select * from document_passage o where o.document_id = s.document_id
          and o.number = s.number limit 1) p
        cross join lateral (select coalesce(p.spaced, p.text) as text) q
        order by score desc, p.document_id desc, p.number limit ${limit})
      select d.document_id, d.file_name, d.trusted, d.number, d.path, d.start_at, d.end_at, d.text,
        d.score,
        ts_headline(d.configuration::regconfig, d.spaced, ${query}, ${marks}) as marked
      from best d order by d.score desc, d.document_id desc, d.number`
  })
