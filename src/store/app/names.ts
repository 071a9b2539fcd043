import type { Fragment, Query, Sql } from '../engine/db.ts'
import { mapPart, one, sure } from '../engine/load.ts'
import type { Principal } from '../engine/principal.ts'
import { auditActor } from '../engine/principal.ts'

export interface NamedAuthor {
  kind: 'person' | 'key' | 'agent' | 'system'
  id: string
  /** The name of the person or key. */
  name: string | null
}

/**
 * The name of a person or key, as an expression. `author`: an expression for JSON such as `{kind,
 * id}`. Null for other kinds of authors, and for people and keys that are gone.
 */
export const authorName = (sql: Sql, author: Fragment): Fragment => sql`case ${author}->>'kind'
  when 'key' then (select k.name from api_key k where k.id = (${author}->>'id')::uuid)
  when 'person' then (select p.name from person p where p.id = (${author}->>'id')::uuid) end`

/** The author together with that name, as a JSON expression. Null if there is no author. */
export const namedAuthor = (sql: Sql, author: Fragment): Fragment =>
  sql`${author} || jsonb_build_object('name', ${authorName(sql, author)})`

/** These authors, with their names. */
export const namedAuthors =
  (authors: Pick<NamedAuthor, 'kind' | 'id'>[]): Query<{ author: NamedAuthor }> =>
  (sql) =>
    sql`select ${namedAuthor(sql, sql`author`)} as author
      from jsonb_array_elements(${sql.json(authors)}) author`

/**
 * The id of an author that is a person or a key, as an expression. `author`: an expression for JSON
 * such as `{kind, id}`, which may be null.
 */
export const namedId = (sql: Sql, author: Fragment): Fragment =>
  sql`case when ${author}->>'kind' in ('person', 'key') then (${author}->>'id')::uuid end`

/** The caller's name, as authors have one. */
export const callerName = (principal: Principal) =>
  mapPart(
    sure(
      one<{ name: string | null }>(
        {},
        (sql) =>
          sql`select ${authorName(sql, sql`${sql.json(auditActor(principal))}::jsonb`)} as name`,
      ),
    ),
    ({ name }) => name,
  )
