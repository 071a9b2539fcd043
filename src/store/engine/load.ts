/**
 * Records that a decision needs, read in the gate's own statement, because a round trip for each
 * would cost more than reading them.
 */
import type { Fragment, Query, Sql } from './db.ts'

/** The fields of a row that hold times. JSON gives them as text. */
type TimesOf<Row> = { [K in keyof Row as Extract<Row[K], Date> extends never ? never : K]-?: true }

/** A query whose rows are read as JSON inside another statement. */
export interface Part<Loaded> {
  query: Query
  many: boolean
  /** If set, nothing is read. */
  omitted?: true
  read(json: unknown): Loaded
}

/** Parts by the names under which the decision gets them. */
export type Load = Record<string, Part<unknown>>

/** The values that the parts return. */
export type Loaded<L extends Load> = {
  [Name in keyof L]: L[Name] extends Part<infer Value> ? Value : never
}

/** A row that was read as JSON, with its times. */
export const reviveTimes = <Row>(row: Row, times: readonly string[]): Row => {
  const fields = row as Record<string, unknown>
  for (const name of times) {
    const text = fields[name]
    if (typeof text === 'string') fields[name] = new Date(text)
  }
  return row
}

/**
 * A query for at most one row; undefined if there is none. `times` names all its columns of type
 * `timestamptz`. Bigints beyond 2^53 and `bytea` do not survive JSON.
 */
export const one = <Row>(times: TimesOf<Row>, query: Query<Row>): Part<Row | undefined> => ({
  query,
  many: false,
  read: (json) => (json === null ? undefined : reviveTimes(json as Row, Object.keys(times))),
})

/** A query for several rows, in its order. */
export const many = <Row>(times: TimesOf<Row>, query: Query<Row>): Part<Row[]> => ({
  query,
  many: true,
  read: (json) => (json as Row[]).map((row) => reviveTimes(row, Object.keys(times))),
})

/** A part whose rows are turned into what the decision needs. */
export const mapPart = <From, To>(part: Part<From>, make: (from: From) => To): Part<To> => ({
  ...part,
  read: (json) => make(part.read(json)),
})

/** A part that always has a row, such as a count. */
export const sure = <T>(part: Part<T | undefined>): Part<T> => mapPart(part, (row) => row!)

/** A part that is read only if the decision needs it. Otherwise it is undefined. */
export const when = <T>(isNeeded: boolean, part: Part<T>): Part<T | undefined> =>
  isNeeded ? part : { ...part, omitted: true, read: () => undefined }

const COLUMN = 'load_'

/** The parts as further columns of a select, each with a comma before it. */
export const loadColumns = (sql: Sql, load: Load): Fragment =>
  Object.entries(load).reduce((before, [name, { query, many, omitted }]) => {
    if (omitted) return before
    const json = many ? sql`coalesce(json_agg(row_to_json(part)), '[]')` : sql`row_to_json(part)`
    return sql`${before}, (select ${json} from (${query(sql)}) part) as ${sql(COLUMN + name)}`
  }, sql``)

type Row = Record<string, unknown>

/** Reads the parts in one statement of their own, which `read` runs. */
export const loadBy = async <L extends Load>(
  read: (query: Query<Row>) => PromiseLike<Row[]>,
  load: L,
): Promise<Loaded<L>> => {
  const [row] = await read((sql) => sql<Row>`select true as found ${loadColumns(sql, load)}`)
  return loadedOf(load, row!)
}

/** The same, for a decision that only learns after the gate what it needs. */
export const loadNow = <L extends Load>(sql: Sql, load: L): Promise<Loaded<L>> =>
  loadBy((query) => query(sql), load)

/** The parts in a row that `loadColumns` selected. */
export const loadedOf = <L extends Load>(load: L, row: Record<string, unknown>): Loaded<L> =>
  Object.fromEntries(
    Object.entries(load).map(([name, { read }]) => [name, read(row[COLUMN + name])]),
  ) as Loaded<L>
