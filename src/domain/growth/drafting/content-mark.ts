/** Identifies what people have seen of a text, by its hash or the first digits of it. */
import { createHash } from 'node:crypto'
import type { FoundMarks, KeptMarks } from '#contract/records/growth/marks'
import { fail } from '#kernel/errors'
import { foundIn } from './marks.ts'
import type { Author } from './revision.ts'

interface Written {
  body: string | null
  written_by: Author | null
  written_at: Date | null
}

/**
 * SHA-256, in hex, of the text that is given to the network, with the marks that were found for it.
 * Surfaces for people show its first eight digits as the record's mark.
 */
export const contentMark = (body: string, marks: FoundMarks | null = null): string => {
  const found = foundIn(marks)
  return createHash('sha256')
    .update(found ? JSON.stringify({ body, ...found }) : body)
    .digest('hex')
}

const refuseStale = (
  { written_by: by, written_at: at }: Written,
  present: string | undefined,
): never => {
  if (present === undefined)
    fail('conflict', 'cannot approve: there is no text; leave expect_hash out', {
      reason: 'stale_text',
      by,
      at,
    })
  const details = [{ path: 'content_hash', message: present! }]
  return fail(
    'conflict',
    `cannot approve: the text is not the one that you saw; its content_hash is ${present} now`,
    { reason: 'stale_text', by, at, details },
  )
}

/**
 * Throws `conflict` unless the text is the one that the caller has seen. `seen`: its hash, or at
 * least the first digits of it.
 */
export const requireSeen = (written: Written, seen: string | undefined): void => {
  const { body } = written
  const present = body === null ? undefined : contentMark(body)
  if (seen !== undefined && !present?.startsWith(seen)) refuseStale(written, present)
}

/**
 * The marks that an approval covers: those that the caller has seen, who may have seen the text
 * before it had any. Throws `conflict` if neither is what the caller has seen.
 */
export const marksSeen = (
  written: Written & { body: string },
  marks: KeptMarks | null,
  seen: string | undefined,
): KeptMarks | null => {
  const present = contentMark(written.body, marks)
  if (seen === undefined || present.startsWith(seen)) return marks
  if (contentMark(written.body).startsWith(seen)) return null
  return refuseStale(written, present)
}
