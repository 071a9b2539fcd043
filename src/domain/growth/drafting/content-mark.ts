/** Identifies the text that people have seen, by its hash or the first digits of it. */
import { createHash } from 'node:crypto'
import { fail } from '#kernel/errors'
import type { Author } from './revision.ts'

interface Written {
  body: string | null
  written_by: Author | null
  written_at: Date | null
}

/**
 * SHA-256, in hex, of the text that is given to the network. Surfaces for people show its first
 * eight digits as the record's mark.
 */
export const contentMark = (body: string): string => createHash('sha256').update(body).digest('hex')

/**
 * Throws `conflict` unless the text is the one that the caller has seen. `seen`: its hash, or at
 * least the first digits of it.
 */
export const requireSeen = (
  { body, written_by: by, written_at: at }: Written,
  seen: string | undefined,
): void => {
  const present = body === null ? undefined : contentMark(body)
  if (seen === undefined || present?.startsWith(seen)) return
  if (present === undefined)
    fail('conflict', 'cannot approve: there is no text; leave expect_hash out', {
      reason: 'stale_text',
      by,
      at,
    })
  const details = [{ path: 'content_hash', message: present! }]
  fail(
    'conflict',
    `cannot approve: the text is not the one that you saw; its content_hash is ${present} now`,
    { reason: 'stale_text', by, at, details },
  )
}
