import { AppError } from '#kernel/errors'
import type { Page, RankedPage } from '#store/engine/page'

const DEFAULT_LIMIT = 25
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The page asked for. A cursor is the id of the last record seen, wrapped so that nobody builds on its form. */
export const pageOf = ({ limit = DEFAULT_LIMIT, cursor }: PageInput): Page => {
  if (cursor === undefined) return { limit }
  const after = unwrapped(cursor)
  return UUID.test(after) ? { limit, after } : foreignCursor()
}

/** A page of names that stand in the code, in their order. */
export const pageOfNames = <N extends string>(all: readonly N[], { limit = DEFAULT_LIMIT, cursor }: PageInput) => {
  const last = cursor === undefined ? -1 : all.indexOf(unwrapped(cursor) as N)
  if (cursor !== undefined && last < 0) foreignCursor()
  const names = all.slice(last + 1, last + 1 + limit)
  return { names, next_cursor: last + 1 + limit < all.length ? wrapped(names.at(-1)!) : null }
}

/** A page of what is in the order of its score. The cursor is the score and the id of the last record seen. */
export const rankedPageOf = ({ limit = DEFAULT_LIMIT, cursor }: PageInput): RankedPage => {
  if (cursor === undefined) return { limit }
  const [score = '', id = ''] = unwrapped(cursor).split(' ')
  return /^\d{1,3}$/.test(score) && UUID.test(id) ? { limit, after: { score: Number(score), id } } : foreignCursor()
}

interface PageInput {
  limit?: number
  cursor?: string
}

const foreignCursor = (): never => {
  const message = 'is not a cursor of this list'
  throw new AppError('invalid_input', `cursor ${message}`, { details: [{ path: 'cursor', message }] })
}

const unwrapped = (cursor: string): string => Buffer.from(cursor, 'base64url').toString('utf8')

const wrapped = (id: string): string => Buffer.from(id).toString('base64url')

/** The cursor of the page that begins with this record, if there is one; undefined for what can be no record's id. */
export const cursorTo = (id: string): string | undefined => {
  if (!UUID.test(id)) return undefined
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  const next = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return UUID.test(next) ? wrapped(next) : undefined
}

/** Rows are fetched one beyond the limit: that one says there is a next page. */
export const pageResult = <Row extends { id: string }>(rows: Row[], limit: number): Result<Row> => resultOf(rows, limit, ({ id }) => id)

/** The same of rows that came in the order of their score. */
export const rankedResult = <Row extends { id: string; score: number }>(rows: Row[], limit: number): Result<Row> =>
  resultOf(rows, limit, ({ id, score }) => `${score} ${id}`)

interface Result<Row> {
  rows: Row[]
  next_cursor: string | null
}

const resultOf = <Row>(rows: Row[], limit: number, placeOf: (row: Row) => string): Result<Row> => {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { rows: rows.slice(0, limit), next_cursor: last ? wrapped(placeOf(last)) : null }
}
