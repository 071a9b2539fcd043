import type { Fragment, Sql } from '../engine/db.ts'

/** The name of a person or a key, as an expression; `author`: one of JSON, as `{kind, id}`. Null for others and for those that are gone. */
export const nameOf = (sql: Sql, author: Fragment): Fragment => sql`case ${author}->>'kind'
  when 'key' then (select k.name from api_key k where k.id = (${author}->>'id')::uuid)
  when 'person' then (select p.name from person p where p.id = (${author}->>'id')::uuid) end`
