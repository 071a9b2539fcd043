/** Compares answers with the OpenAPI document, by a third-party validator. */
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020'
import { braces, type NamedOp } from '#contract/op'

interface Content {
  schema?: object
}

interface DescribedOperation {
  responses: Record<string, { description: string; content?: Record<string, Content> }>
}

/** The document as served. */
export interface Document {
  components: object
  paths: Record<string, Record<string, DescribedOperation>>
}

/** An answer, read to its end. */
export interface Seen {
  status: number
  headers: Headers
  text: string
}

/** `failed`: a 5xx, or an answer without a header that its status requires. */
export interface Finding {
  kind: 'failed' | 'undocumented' | 'mismatched'
  what: string
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

const formats: Record<string, (text: string) => boolean> = {
  uuid: (text) => UUID.test(text),
  'date-time': (text) => INSTANT.test(text) && !Number.isNaN(Date.parse(text)),
  'time-zone': (text) =>
    Intl.supportedValuesOf('timeZone').includes(text) ||
    /^[A-Za-z]+([/_+-][A-Za-z0-9]+)*$/.test(text),
  language: (text) => Intl.getCanonicalLocales(text).length === 1,
  uri: (text) => URL.canParse(text),
  email: (text) => text.includes('@'),
}

/** The schemas of the document by their place in it, compiled when first needed. */
const compiler = (document: Document) => {
  const ajv = new Ajv2020({ strict: false, allErrors: false, formats })
  ajv.addSchema({ ...document, $id: 'openapi' })
  const known = new Map<string, ValidateFunction>()
  return (...place: string[]): ValidateFunction => {
    const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const before = known.get(pointer)
    if (before) return before
    const compiled = ajv.compile({ $ref: `openapi#/${encodeURI(pointer)}` })
    known.set(pointer, compiled)
    return compiled
  }
}

type Compiled = ReturnType<typeof compiler>

const typeOf = (headers: Headers): string =>
  (headers.get('content-type') ?? '').split(';')[0]!.trim()

/** Of a file. */
const ANY_TYPE = '*/*'

/** The type under which the document describes an answer. */
const describedType = (
  { content = {} }: DescribedOperation['responses'][string],
  type: string,
): string | undefined => [type, ANY_TYPE].find((one) => one in content)

const needed: Record<number, string> = {
  401: 'www-authenticate',
  405: 'allow',
  429: 'retry-after',
  503: 'retry-after',
}

/** Requirements on every answer, whatever the document says. */
const failures = ({ status, headers, text }: Seen): Finding[] => {
  const failed = (what: string): Finding => ({ kind: 'failed', what })
  const header = needed[status]
  return [
    ...(status >= 500 ? [failed(`${status} ${text.slice(0, 200)}`)] : []),
    ...(headers.has('x-request-id') ? [] : [failed(`${status} without X-Request-Id`)]),
    ...(header && !headers.has(header) ? [failed(`${status} without ${header}`)] : []),
  ]
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const fault = (validate: ValidateFunction, value: unknown): string | undefined => {
  if (validate(value)) return undefined
  const [error] = validate.errors ?? []
  return `${error?.instancePath || 'the body'} ${error?.message} ${JSON.stringify(error?.params)}`
}

/** A download: every line but an empty last one is a record, or the error that ended it. */
const linesFault = (
  text: string,
  record: ValidateFunction,
  refusal: ValidateFunction,
): string | undefined => {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines
    .map((line) =>
      fault(refusal, parsed(line)) === undefined ? undefined : fault(record, parsed(line)),
    )
    .find((one) => one)
}

/** Reports an error code that the document does not list for this status. */
const codeFault = (text: string, description: string): string | undefined => {
  const { code } = (parsed(text) as { error: { code: string } }).error
  return description.replace('Error codes: ', '').split(', ').includes(code)
    ? undefined
    : `the code ${code}`
}

const bodyFault = (
  compiled: Compiled,
  { place, type }: { place: string[]; type: string },
  { status, text }: Seen,
): string | undefined => {
  if (type === ANY_TYPE) return undefined
  const validate = compiled(...place, 'content', type, 'schema')
  const refusal = compiled('components', 'schemas', 'Error')
  if (type === 'application/x-ndjson') return linesFault(text, validate, refusal)
  if (type === 'text/csv') return text.includes('\0') ? 'a NUL in a table' : undefined
  return fault(status >= 400 ? refusal : validate, parsed(text))
}

/**
 * Judges an operation's answers. `others` judges answers to methods that a path does not have and
 * the document does not list; HEAD has no body.
 */
export const judgeOf = (document: Document) => {
  const compiled = compiler(document)
  const refused = (seen: Seen): Finding[] => {
    const wrong = fault(compiled('components', 'schemas', 'Error'), parsed(seen.text))
    return wrong ? [{ kind: 'mismatched', what: `${seen.status}: ${wrong}` }] : []
  }
  return {
    answer(o: NamedOp, seen: Seen): Finding[] {
      const found = failures(seen)
      const path = braces(o.path)
      const method = o.method.toLowerCase()
      const response = document.paths[path]?.[method]?.responses[seen.status]
      if (!response)
        return [
          ...found,
          { kind: 'undocumented', what: `${seen.status} ${seen.text.slice(0, 200)}` },
        ]
      const type = describedType(response, typeOf(seen.headers))
      if (!type)
        return [
          ...found,
          { kind: 'mismatched', what: `${seen.status} as ${typeOf(seen.headers) || 'nothing'}` },
        ]
      const place = ['paths', path, method, 'responses', String(seen.status)]
      const wrong =
        bodyFault(compiled, { place, type }, seen) ??
        (seen.status >= 400 ? codeFault(seen.text, response.description) : undefined)
      return wrong
        ? [
            ...found,
            { kind: 'mismatched', what: `${seen.status}: ${wrong} in ${seen.text.slice(0, 300)}` },
          ]
        : found
    },
    others(seen: Seen, method: string): Finding[] {
      if (seen.status === 405 || seen.status === 404)
        return [...failures(seen), ...(method === 'HEAD' ? [] : refused(seen))]
      return [
        ...failures(seen),
        { kind: 'undocumented', what: `${seen.status} to a method that nothing has` },
      ]
    },
  }
}
