/**
 * The array types that our statements use, by their fixed OIDs. postgres.js can look them up, but
 * it does so on each new connection, in a query that nobody awaits. If a connection broke at that
 * moment, the process would end.
 */

const INTEGER_ARRAY = 1007
const TEXT_ARRAY = 1009
const UUID_ARRAY = 2951

/** A list of strings as a Postgres array: `{"a","b"}`. */
export const serializeArray = (values: readonly string[]): string =>
  `{${values.map((value) => `"${value.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`

const ELEMENT = /"((?:[^"\\]|\\.)*)"|[^{},]+/gs

/** Parses a Postgres array of one dimension, without nulls. */
export const parseArray = (text: string): string[] =>
  [...text.matchAll(ELEMENT)].map(([plain, quoted]) =>
    quoted === undefined ? plain : quoted.replace(/\\(.)/gs, '$1'),
  )

const serializeNumbers = (values: readonly number[]): string => `{${values.join(',')}}`
const parseNumbers = (text: string): number[] => parseArray(text).map(Number)

/** For the client's `types` option, with `fetch_types: false`. */
export const arrayTypes = {
  integerArray: {
    to: INTEGER_ARRAY,
    from: [INTEGER_ARRAY],
    parse: parseNumbers,
    serialize: serializeNumbers,
  },
  textArray: { to: TEXT_ARRAY, from: [TEXT_ARRAY], parse: parseArray, serialize: serializeArray },
  uuidArray: { to: UUID_ARRAY, from: [UUID_ARRAY], parse: parseArray, serialize: serializeArray },
}
