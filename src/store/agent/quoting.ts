/**
 * Texts of the workspace that contain words of a question, with marks around these words. Texts of
 * outside people are kept apart from the workspace's own.
 */
import type { Memory } from '#domain/agent/knowledge/memory'
import { MOST_QUOTATIONS } from '#domain/agent/knowledge/quoting'
import { MARKS, spacedWords } from '#kernel/spacing'
import type { Fragment, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import { anyWord, searchConfiguration } from '../engine/text-search.ts'
import { type MemorySearch, matching, queryWords } from './memories.ts'
import { activeTexts } from './playbooks.ts'

/** The whole text, in the form that `spacedWords` returns. */
const markWords = (sql: Sql, configuration: Fragment, text: Fragment, query: Fragment): Fragment =>
  sql`ts_headline(${configuration}::regconfig, ${text}, ${query},
    ${`HighlightAll=true, StartSel=${MARKS[0]}, StopSel=${MARKS[1]}`})`

/** How many different words a question has, not counting those that every text has. */
export const wordsAsked = (text: string, language: string) =>
  sure(
    one<{ count: number }>(
      {},
      (sql) =>
        sql`select length(to_tsvector(${searchConfiguration(language)}::regconfig,
          ${spacedWords(text)})) as count`,
    ),
  )

export const quotableMemories = (asked: Omit<MemorySearch, 'limit'>) =>
  many<Pick<Memory, 'id' | 'scope' | 'untrusted' | 'text'> & { marked: string }>({}, (sql) => {
    const found = matching(sql, { ...asked, limit: MOST_QUOTATIONS }, sql`true`)
    const query = anyWord(sql, sql`m.configuration`, queryWords(asked.text))
    return sql`select f.id, f.scope, f.untrusted, f.text,
      ${markWords(sql, sql`m.configuration`, sql`coalesce(m.spaced, m.text)`, query)} as marked
      from (${found}) f join agent_memory m on m.id = f.id`
  })

export interface QuotablePlaybook {
  slug: string
  version: number
  content: string
  marked: string
}

/**
 * Active playbooks. Their words are found anew for each question, which took 160 ms for 100 of the
 * longest.
 */
export const quotablePlaybooks = (text: string, language: string, { pinnedOnly = false } = {}) =>
  many<QuotablePlaybook>({}, (sql) => {
    const configuration = sql`${searchConfiguration(language)}`
    const query = anyWord(sql, configuration, spacedWords(text))
    return sql`select f.slug, f.version, f.content,
      ${markWords(sql, configuration, sql`f.spaced`, sql`f.query`)} as marked from (
      select p.id, p.slug, v.number as version, v.content, s.spaced, q.query,
        to_tsvector(${configuration}::regconfig, s.spaced) as words
        from ${activeTexts(sql)} cross join lateral (select coalesce(v.spaced, v.content) as spaced)
          s
          cross join (select ${query} as query) q where p.status = 'active' ${
            pinnedOnly
              ? sql`and
            p.pinned`
              : sql``
          } offset 0) f
      where f.words @@ f.query order by ts_rank(f.words, f.query) desc, f.id desc
        limit ${MOST_QUOTATIONS}`
  })
