import { AppError } from '#kernel/errors'
import type { Page } from '#store/items'

const DEFAULT_LIMIT = 25
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The page asked for. A cursor is the id of the last record seen, wrapped so that nobody builds on its form. */
export const pageOf = ({ limit = DEFAULT_LIMIT, cursor }: { limit?: number; cursor?: string }): Page => {
  if (cursor === undefined) return { limit }
  const after = Buffer.from(cursor, 'base64url').toString('utf8')
  if (!UUID.test(after)) {
    const message = 'is not a cursor of this list'
    throw new AppError('invalid_input', `cursor ${message}`, { details: [{ path: 'cursor', message }] })
  }
  return { limit, after }
}

/** Rows are fetched one beyond the limit: that one says there is a next page. */
export const pageResult = <Row extends { id: string }>(rows: Row[], limit: number): { rows: Row[]; next_cursor: string | null } => {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { rows: rows.slice(0, limit), next_cursor: last ? Buffer.from(last.id).toString('base64url') : null }
}
