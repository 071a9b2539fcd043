/**
 * What the agent remembers. A caller sees the memories of the workspace and, if it acts for a
 * person, those of that person: at most 1,000 of at most 1,000 characters. Search reads all of
 * these by the primary key and compares their words, which took 8 ms for 1,000 of the longest. No
 * index is asked: `@@` is not leakproof, so row-level security keeps Postgres from using one, and a
 * table of words, which took 0.3 ms, had 59,000 rows and 10 MB for the same memories. Finding the
 * words anew for each search took 80 ms.
 */
import { memoryRecord } from '#contract/records/agent/memory'
import {
  type Memory,
  type MemoryScope,
  memoryLimits,
  type Stored,
} from '#domain/agent/knowledge/memory'
import { spacedOf, spacedWords } from '#kernel/spacing'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { anyWord, searchConfiguration } from '../engine/text-search.ts'

const table = tableOf(memoryRecord)

/** The memories that are shown to whoever acts for this person, or for nobody. */
const shownTo = (sql: Sql, personId: string | null): Fragment =>
  sql`(m.person_id is null or m.person_id = ${personId}::uuid)`

export const memoryPart = (id: string, personId: string | null) =>
  one<Memory>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'm')} from agent_memory m where m.id = ${id}
        and ${shownTo(sql, personId)}`,
  )

/** `q`: words, all of which a memory must have. */
export interface MemoryFilter extends Page {
  personId: string | null
  scope?: MemoryScope | undefined
  q?: string | undefined
}

/** The longest text whose words are looked for, in characters. */
const LONGEST_QUERY = 2_000

export const queryWords = (text: string): string => spacedWords(text.slice(0, LONGEST_QUERY))

/** Newest first. */
export const listMemories =
  ({ limit, after, personId, scope, q }: MemoryFilter): Query<Memory> =>
  (sql) =>
    sql`select ${table.columns(sql, 'm')} from agent_memory m where ${shownTo(sql, personId)}
      ${scope ? sql`and m.scope = ${scope}` : sql``} ${after ? sql`and m.id < ${after}` : sql``}
      ${
        q === undefined
          ? sql``
          : sql`and m.words @@ plainto_tsquery(m.configuration::regconfig,
        ${queryWords(q)})`
      }
      order by m.id desc limit ${limit + 1}`

export interface MemorySearch {
  personId: string | null
  text: string
  limit: number
}

/**
 * Memories that have any of the words and match `of`: the best first, and of equal ones the newest.
 */
export const matching = (
  sql: Sql,
  { personId, text, limit }: MemorySearch,
  of: Fragment,
): Fragment<Memory> =>
  // A memory is searched in the language in which its words were found, whatever the workspace's
  // language is now.
  sql`select ${table.columns(sql, 'm')} from (select c.configuration,
    ${anyWord(sql, sql`c.configuration`, queryWords(text))} as words
      from (select distinct m.configuration from agent_memory m where ${shownTo(sql, personId)}) c)
        q
    join agent_memory m on m.configuration = q.configuration and m.words @@ q.words
      where ${shownTo(sql, personId)} and ${of}
    order by ts_rank(m.words, q.words) desc, m.id desc limit ${limit}`

export const searchMemories = (asked: MemorySearch) =>
  many<Memory>(table.times, (sql) => matching(sql, asked, sql`true`))

/**
 * The memories that a turn is given. It gets no untrusted ones, and none younger than the job,
 * whose prompt must not change between its steps.
 */
export const memoriesForTurn = (asked: Omit<MemorySearch, 'limit'>, before: Date) =>
  many<Memory>(table.times, (sql) =>
    matching(
      sql,
      { ...asked, limit: memoryLimits.given },
      sql`not m.untrusted and m.created_at <= ${before}`,
    ),
  )

/** How many bytes of memories a turn is given, at most. */
export const memoryBytes = (personId: string | null) =>
  sure(
    one<{ bytes: number }>(
      {},
      (sql) => sql`select coalesce(sum(bytes), 0)::int as bytes
        from (select octet_length(m.text) as bytes from agent_memory m
        where ${shownTo(sql, personId)} and not m.untrusted order by 1 desc
          limit ${memoryLimits.given}) longest`,
    ),
  )

const isOf = (sql: Sql, personId: string | null): Fragment =>
  sql`m.person_id is not distinct from ${personId}::uuid`

/** The memory of equal text in the same scope. */
export const equalMemory = ({ person_id, text_hash }: Pick<Memory, 'person_id' | 'text_hash'>) =>
  one<Memory>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'm')} from agent_memory m where ${isOf(sql, person_id)}
        and m.text_hash = ${text_hash}`,
  )

/** How many memories the scope has, and which one has been unused for longest. */
export const memoryRoom = (personId: string | null) =>
  sure(
    one<Pick<Stored, 'count' | 'oldest'>>(
      {},
      (sql) => sql`select count(*)::int as count,
        (array_agg(m.id order by coalesce(m.last_used_at, m.created_at), m.id))[1] as oldest
          from agent_memory m where ${isOf(sql, personId)}`,
    ),
  )

/** `language`: the workspace's language. */
export const insertMemory =
  (memory: Memory, language: string): Query =>
  (sql) => {
    const configuration = searchConfiguration(language)
    const spaced = spacedOf(memory.text)
    return sql`insert into agent_memory (${table.columns(sql)}, spaced, configuration, words)
      values (${table.values(sql, memory)}, ${spaced}, ${configuration},
        to_tsvector(${configuration}::regconfig, ${spaced ?? memory.text}))`
  }

/** Notes that memories have been given to a model, or stored again. */
export const useMemories =
  (ids: readonly string[], now: Date): Query =>
  (sql) =>
    sql`update agent_memory set last_used_at = ${now}, updated_at = ${now}
      where id = any(${ids}::uuid[])`

export const deleteMemory =
  (id: string): Query =>
  (sql) =>
    sql`delete from agent_memory where id = ${id}`
