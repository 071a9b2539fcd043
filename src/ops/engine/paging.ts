import { AppError } from '#kernel/errors'
import { isUuid } from '#kernel/ids'
import type { Page, RankedPage } from '#store/engine/page'

const DEFAULT_LIMIT = 25

/**
 * A page by id. Its cursor is the last id of the page before, in base64url so that clients treat it
 * as opaque.
 */
export const pageOf = ({ limit = DEFAULT_LIMIT, cursor }: PageInput): Page => {
  if (cursor === undefined) return { limit }
  const after = unwrap(cursor)
  return isUuid(after) ? { limit, after } : refuseCursor()
}

/** A page of a fixed list of names. */
export const pageOfNames = <N extends string>(
  all: readonly N[],
  { limit = DEFAULT_LIMIT, cursor }: PageInput,
) => {
  const last = cursor === undefined ? -1 : all.indexOf(unwrap(cursor) as N)
  if (cursor !== undefined && last < 0) refuseCursor()
  const names = all.slice(last + 1, last + 1 + limit)
  return { names, next_cursor: last + 1 + limit < all.length ? wrap(names.at(-1)!) : null }
}

/** A page by score. Its cursor is the score and id of the last record of the page before. */
export const rankedPageOf = ({ limit = DEFAULT_LIMIT, cursor }: PageInput): RankedPage => {
  if (cursor === undefined) return { limit }
  const [score = '', id = ''] = unwrap(cursor).split(' ')
  return /^\d{1,3}$/.test(score) && isUuid(id)
    ? { limit, after: { score: Number(score), id } }
    : refuseCursor()
}

/**
 * A page by time. Its cursor is the time, in milliseconds, and the id of the last record of the
 * page before.
 */
export const timedPageOf = ({
  limit = DEFAULT_LIMIT,
  cursor,
}: PageInput): { limit: number; after?: { at: Date; id: string } } => {
  if (cursor === undefined) return { limit }
  const [at = '', id = ''] = unwrap(cursor).split(' ')
  return /^\d{1,14}$/.test(at) && isUuid(id)
    ? { limit, after: { at: new Date(Number(at)), id } }
    : refuseCursor()
}

/**
 * A page of posts by time. Its cursor is the time, in microseconds, and the id of the last post of
 * the page before.
 */
export const placedPageOf = ({
  limit = DEFAULT_LIMIT,
  cursor,
}: PageInput): { limit: number; before?: Place } => {
  if (cursor === undefined) return { limit }
  const [at = '', id = ''] = unwrap(cursor).split(' ')
  return /^\d{1,16}$/.test(at) && /^\d{1,20}$/.test(id)
    ? { limit, before: { at: Number(at), id } }
    : refuseCursor()
}

interface Place {
  at: number
  id: string
}

/** A page by number. Its cursor is the last number of the page before. */
export const numberedPageOf = ({
  limit = DEFAULT_LIMIT,
  cursor,
}: PageInput): { limit: number; after?: number } => {
  if (cursor === undefined) return { limit }
  const number = unwrap(cursor)
  return /^\d{1,9}$/.test(number) ? { limit, after: Number(number) } : refuseCursor()
}

/**
 * A page by a time in microseconds, or by ids alone. Its cursor is the last record's time, if it is
 * by time, and its id.
 */
export const sortedPageOf = (
  { limit = DEFAULT_LIMIT, cursor }: PageInput,
  isById: boolean,
): SortedPage => {
  if (cursor === undefined) return { limit }
  const [id = '', at] = unwrap(cursor).split(' ').toReversed()
  if (
    !isUuid(id) ||
    (at === undefined) !== isById ||
    (at !== undefined && !/^-?\d{1,16}$/.test(at))
  )
    return refuseCursor()
  return { limit, after: { id, at: at === undefined ? undefined : Number(at) } }
}

interface SortedPage {
  limit: number
  after?: { at: number | undefined; id: string }
}

/** A page of a list that reads the places in its cursors itself. */
export const markedPageOf = <P>(
  { limit = DEFAULT_LIMIT, cursor }: PageInput,
  read: (text: string) => P | undefined,
): { limit: number; after?: P } =>
  cursor === undefined ? { limit } : { limit, after: read(unwrap(cursor)) ?? refuseCursor() }

interface PageInput {
  limit?: number
  cursor?: string
}

const refuseCursor = (): never => {
  const message = 'is not a cursor of this list'
  throw new AppError('invalid_input', `cursor ${message}`, {
    details: [{ path: 'cursor', message }],
  })
}

const unwrap = (cursor: string): string => Buffer.from(cursor, 'base64url').toString('utf8')

const wrap = (id: string): string => Buffer.from(id).toString('base64url')

/**
 * The cursor of the page that begins with the record of this id, if it exists; undefined for an
 * invalid id.
 */
export const cursorTo = (id: string): string | undefined => {
  if (!isUuid(id)) return undefined
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  const next = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return isUuid(next) ? wrap(next) : undefined
}

/** `rows`: one more than the limit if there is a next page. */
export const pageResult = <Row extends { id: string }>(rows: Row[], limit: number): Result<Row> =>
  resultOf(rows, limit, ({ id }) => id)

/** The same for rows sorted by score. */
export const rankedResult = <Row extends { id: string; score: number }>(
  rows: Row[],
  limit: number,
): Result<Row> => resultOf(rows, limit, ({ id, score }) => `${score} ${id}`)

/** The same for rows sorted by time. */
export const timedResult = <Row extends { id: string }>(
  rows: Row[],
  limit: number,
  timeOf: (row: Row) => Date,
): Result<Row> => resultOf(rows, limit, (row) => `${timeOf(row).getTime()} ${row.id}`)

/** The same for posts by time. */
export const placedResult = <Row extends { id: string; place: Place }>(
  rows: Row[],
  limit: number,
): Result<Row> => resultOf(rows, limit, ({ place: { at, id } }) => `${at} ${id}`)

/** The same for rows sorted by number. */
export const numberedResult = <Row extends { number: number }>(
  rows: Row[],
  limit: number,
): Result<Row> => resultOf(rows, limit, ({ number }) => `${number}`)

/** The same for rows with their place. */
export const sortedResult = <Row extends { id: string; place_at?: number | null }>(
  rows: Row[],
  limit: number,
): Result<Row> =>
  resultOf(rows, limit, ({ id, place_at }) =>
    place_at === null || place_at === undefined ? id : `${place_at} ${id}`,
  )

/** The same for a list that writes its places itself. */
export const markedResult = <Row>(
  rows: Row[],
  limit: number,
  placeOf: (row: Row) => string,
): Result<Row> => resultOf(rows, limit, placeOf)

interface Result<Row> {
  rows: Row[]
  next_cursor: string | null
}

const resultOf = <Row>(rows: Row[], limit: number, placeOf: (row: Row) => string): Result<Row> => {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { rows: rows.slice(0, limit), next_cursor: last ? wrap(placeOf(last)) : null }
}
