import { type NamedAuthor, namedAuthor } from '../app/names.ts'
import { one, sure } from '../engine/load.ts'

interface Pause {
  paused: boolean
  /** When it was paused, and below by whom. Null while nothing is paused. */
  since: Date | null
  by: NamedAuthor | null
}

/** Whether all automation is paused. Always a row. */
export const pauseOf = sure(
  one<Pause>(
    { since: true },
    (sql) => sql`select a.paused, a.paused_at as since,
      ${namedAuthor(sql, sql`a.paused_by`)} as by from actor a`,
  ),
)
