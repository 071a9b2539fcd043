/** Checks of values, with the words in which a PDS says what is wrong. */

/** What is wrong with a value, with its path; undefined if nothing is. */
export type PdsCheck = (value: unknown, path: string) => string | undefined

const got = (value: unknown): string => `(got ${JSON.stringify(value)})`

const expected = (type: string, value: unknown, path: string): string =>
  `Expected ${type} value type ${got(value)} at ${path}`

const segmenter = new Intl.Segmenter()

interface Sizes {
  bytes?: number
  graphemes?: number
  format?: [name: string, isOne: (text: string) => boolean]
}

const text =
  ({ bytes, graphemes, format }: Sizes = {}): PdsCheck =>
  (value, path) => {
    if (typeof value !== 'string') return expected('string', value, path)
    const size = Buffer.byteLength(value)
    if (bytes !== undefined && size > bytes)
      return `string too big (maximum ${bytes}, got ${size}) at ${path}`
    const count = graphemes === undefined ? 0 : [...segmenter.segment(value)].length
    if (graphemes !== undefined && count > graphemes)
      return `grapheme too big (maximum ${graphemes}, got ${count}) at ${path}`
    if (format && !format[1](value)) return `Invalid ${format[0]} ${got(value)} at ${path}`
    return undefined
  }

const list =
  (item: PdsCheck, most = Number.POSITIVE_INFINITY): PdsCheck =>
  (value, path) => {
    if (!Array.isArray(value)) return expected('array', value, path)
    if (value.length > most)
      return `array too big (maximum ${most}, got ${value.length}) at ${path}`
    for (const [index, one] of value.entries()) {
      const wrong = item(one, `${path}[${index}]`)
      if (wrong) return wrong
    }
    return undefined
  }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A name that ends in `?` may be missing. Other keys may be there too. */
const object = (fields: Record<string, PdsCheck>): PdsCheck => {
  const checks = Object.entries(fields).map(
    ([name, check]) => [name.replace('?', ''), name.endsWith('?'), check] as const,
  )
  return (value, path) => {
    if (!isObject(value)) return expected('object', value, path)
    for (const [name, mayMiss, check] of checks) {
      if (value[name] === undefined && mayMiss) continue
      if (value[name] === undefined) return `Missing required key "${name}" at ${path}`
      const wrong = check(value[name], `${path}.${name}`)
      if (wrong) return wrong
    }
    return undefined
  }
}

const nullable =
  (check: PdsCheck): PdsCheck =>
  (value, path) =>
    value === null ? undefined : check(value, path)

/** Values of other types than the named ones are let through. */
const union =
  (types: Record<string, PdsCheck>): PdsCheck =>
  (value, path) => {
    if (!isObject(value)) return expected('object', value, path)
    if (value.$type === undefined) return `Missing required key "$type" at ${path}`
    return types[value.$type as string]?.(value, path)
  }

const boolean: PdsCheck = (value, path) =>
  typeof value === 'boolean' ? undefined : expected('boolean', value, path)

/** A number, or in a query one written in digits. */
const integer =
  (least: number, most = Number.MAX_SAFE_INTEGER): PdsCheck =>
  (value, path) => {
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value
    if (!Number.isSafeInteger(number)) return expected('integer', value, path)
    if ((number as number) < least)
      return `integer too small (minimum ${least}, got ${number}) at ${path}`
    if ((number as number) > most)
      return `integer too big (maximum ${most}, got ${number}) at ${path}`
    return undefined
  }

const flag: PdsCheck = (value, path) =>
  value === 'true' || value === 'false' ? undefined : expected('boolean', value, path)

/** What a record may be made of, at any depth. */
const plain: PdsCheck = (value, path) => {
  const pairs = Array.isArray(value)
    ? value.map((one, index) => [`${path}[${index}]`, one] as const)
    : isObject(value)
      ? Object.entries(value).map(([name, one]) => [`${path}.${name}`, one] as const)
      : []
  for (const [at, one] of pairs) {
    const wrong = plain(one, at)
    if (wrong) return wrong
  }
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return undefined
  return expected('one of null, boolean, integer, string, cid, bytes, array or object', value, path)
}

const DID = /^did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]$/
const HANDLE = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/i
const NSID = /^[a-z]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+\.[a-z][a-z0-9]*$/i
const KEY = /^[a-zA-Z0-9._~:-]{1,512}$/
const TID = /^[234567a-j][234567a-z]{12}$/
const CID = /^baf[a-z2-7]{50,}$/
const LANGUAGE = /^(i|[a-z]{2,8})(-[a-z0-9]+)*$/i
const URI = /^[a-z][a-z0-9.+-]*:[^\s]+$/i
const AT_URI = /^at:\/\/[^/\s]+(\/[^/\s]+){0,2}$/
const DATETIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

const isDatetime = (value: string): boolean =>
  DATETIME.test(value) && !value.endsWith('-00:00') && !Number.isNaN(Date.parse(value))

const of = (name: string, isOne: (value: string) => boolean, sizes: Sizes = {}): PdsCheck =>
  text({ ...sizes, format: [name, isOne] })

const did = of('DID', (value) => DID.test(value))
const handle = of('handle', (value) => HANDLE.test(value))
const atIdentifier = of('AT identifier', (value) => DID.test(value) || HANDLE.test(value))
const nsid = of('NSID', (value) => NSID.test(value))
const recordKey = of('record key', (value) => KEY.test(value) && !/^\.\.?$/.test(value))
const tid = of('TID string', (value) => TID.test(value))
const cid = of('CID string', (value) => CID.test(value))
const language = of('language', (value) => LANGUAGE.test(value))
const uri = of('uri', (value) => URI.test(value))
const atUri = of('at-uri', (value) => AT_URI.test(value))
const datetime = of('datetime', isDatetime)

/** By their names in a lexicon. */
export const lex = {
  text,
  list,
  isObject,
  object,
  nullable,
  union,
  boolean,
  integer,
  flag,
  plain,
  did,
  handle,
  atIdentifier,
  nsid,
  recordKey,
  tid,
  cid,
  language,
  uri,
  atUri,
  datetime,
}
