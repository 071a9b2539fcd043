import type { Author } from '#domain/growth/drafting/revision'
import { nameOf } from '../app/names.ts'
import { one, sure } from '../engine/load.ts'

export interface NamedAuthor extends Author {
  /** Of the person or key. */
  name: string | null
}

interface Pause {
  paused: boolean
  /** With who paused it, null while nothing is paused. */
  since: Date | null
  by: NamedAuthor | null
}

/** Whether all automation is paused. Always a row. */
export const pauseOf = sure(
  one<Pause>(
    { since: true },
    (sql) => sql`select a.paused, a.paused_at as since,
      a.paused_by || jsonb_build_object('name', ${nameOf(sql, sql`a.paused_by`)}) as by from actor a`,
  ),
)
