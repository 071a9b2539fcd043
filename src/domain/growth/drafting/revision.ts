/** The versions of a text that is ours: an item's or an engagement's. */

import type { revisionRecord } from '#contract/records/growth/revision'
import type { RowOf } from '#contract/records/record'

/** Who wrote or decided something, as the audit names them. */
export interface Author {
  kind: 'person' | 'key' | 'agent' | 'system'
  id: string
}

/** A text before the present one. */
export type Revision = RowOf<typeof revisionRecord>

/** Versions of one text that are kept, with the present one: the first and the newest. */
export const MOST_REVISIONS = 100

/** What has revisions. The present one stands in the record itself. */
interface Revised {
  id: string
  revision: number
  title?: string | null
  body: string | null
  written_by: Author | null
  written_at: Date | null
  /** The first text, where a later one has replaced it. */
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

/** The text that a change replaces. */
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
