/** Who made a record, wrote it and decided about it, with names, as surfaces show it. */

import type { Author } from './revision.ts'
import type { DraftSource } from './source.ts'

interface Kept<What extends string> {
  what: What
  by: Author
  allowed_by?: Author
  at: string | Date
}

interface Authored<What extends string> extends DraftSource {
  /** Names of people and keys by their ids; absent or null if none were read. */
  names?: Readonly<Record<string, string>> | null
  source_name?: string | null
  written_by: Author | null
  decision: Kept<What> | null
}

export const authorshipOf = <What extends string>({
  names,
  source_kind: kind,
  source_id,
  source_name = null,
  written_by,
  decision,
}: Authored<What>) => {
  const nameOf = (id: string | null) => (id === null ? null : (names?.[id] ?? null))
  const named = (author: Author) => ({ ...author, name: nameOf(author.id) })
  return {
    source: { kind, id: source_id, name: source_name ?? nameOf(source_id) },
    written_by: written_by && named(written_by),
    decision: decision && {
      what: decision.what,
      by: named(decision.by),
      allowed_by: decision.allowed_by ? named(decision.allowed_by) : null,
      at: new Date(decision.at),
    },
  }
}
