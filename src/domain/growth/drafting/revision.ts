/** The versions of one of our texts: that of an item or an engagement. */

import type { revisionRecord } from '#contract/records/growth/revision'
import type { RowOf } from '#contract/records/record'

/** Who wrote or decided something, named as in the audit. */
export interface Author {
  kind: 'person' | 'key' | 'agent' | 'system'
  id: string
}

/** A text that was replaced. */
export type Revision = RowOf<typeof revisionRecord>

/**
 * How many versions of a text are kept, including the present one: the first and the newest ones.
 */
export const MOST_REVISIONS = 100

/** A record whose text has revisions. The present text is in the record itself. */
interface Revised {
  id: string
  revision: number
  title?: string | null
  body: string | null
  written_by: Author | null
  written_at: Date | null
  /** The first text, if a later one has replaced it. */
  original_body?: string | null
  created_at: Date
}

/** The record after a change of its text. */
export const reviseText = <R extends Revised>(
  record: R,
  text: Pick<R, 'body'> & Partial<R>,
  { by, now }: { by: Author | null; now: Date },
): R => ({
  ...record,
  ...text,
  revision: record.revision + 1,
  written_by: by,
  written_at: now,
  original_body: record.original_body ?? record.body,
})

/** The text that a change has replaced. */
export const replacedBy = (before: Revised, next: Revised): Revision | undefined =>
  next.revision === before.revision
    ? undefined
    : {
        record_id: before.id,
        number: before.revision,
        title: before.title ?? null,
        body: before.body,
        written_by: before.written_by,
        written_at: before.written_at ?? before.created_at,
      }
