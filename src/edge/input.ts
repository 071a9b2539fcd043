/**
 * A request as an operation's flat input: path parameters, query and body. Converts strings of the
 * query, but never of the body.
 */
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { type NamedOp, readsOnly } from '#contract/op'
import { AppError } from '#kernel/errors'
import { validate } from '#ops/engine/validate'
import type { BodyTerms, Incoming } from './incoming.ts'

const invalid = (path: string, message: string): never => {
  throw new AppError('invalid_input', `${path} ${message}`.trim(), { details: [{ path, message }] })
}

const isJson = (type: string | null): boolean => /^application\/json\s*(;|$)/i.test(type ?? '')

type Input = Record<string, unknown>

const readBody = async (incoming: Incoming, terms: BodyTerms): Promise<Input> => {
  const text = await incoming.text(terms)
  if (text === '') return {}
  if (!isJson(incoming.request.headers.get('content-type')))
    throw new AppError('unsupported_media_type')
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return invalid('', 'the body is not valid JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return invalid('', 'the body must be a JSON object')
  return body as Input
}

const convert = (schema: TSchema | undefined, text: string): unknown => {
  if (schema?.type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (schema?.type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

/** Throws `invalid_input` where a name is given twice. */
const readQuery = (search: string, input: TObject): Input => {
  const query: Input = {}
  if (search === '') return query
  for (const [name, text] of new URLSearchParams(search)) {
    if (Object.hasOwn(query, name)) invalid(name, 'must not be given twice')
    Object.defineProperty(query, name, {
      value: convert(input.properties[name], text),
      enumerable: true,
    })
  }
  return query
}

/** The query of a URL, without the cost of parsing the whole URL. */
const searchOf = (url: string): string => {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1).replace(/#.*/s, '')
}

/** The query of what is no operation, which must fit. Throws `invalid_input`. */
export const checkedQuery = <S extends TObject>({ url }: Request, schema: S): Static<S> => {
  const query = readQuery(searchOf(url), schema)
  validate(schema, query)
  return query as Static<S>
}

const withParams = (fields: Input, params: Record<string, string> | undefined): Input => {
  for (const name in params)
    if (Object.hasOwn(fields, name)) invalid(name, 'is already set by the path; remove it')
  return { ...fields, ...params }
}

/**
 * Returns at once if the request has no body. `workspace`: the caller's, or undefined for an
 * anonymous caller. Throws `invalid_input` and the errors of `Incoming.text`.
 */
export const inputOf = (
  o: NamedOp,
  incoming: Incoming,
  workspace: string | undefined,
): Input | Promise<Input> => {
  const { request, params } = incoming
  const search = searchOf(request.url)
  if (readsOnly(o)) return withParams(readQuery(search, o.input as TObject), params)
  if (search !== '') invalid('', 'this operation takes no query parameters; send a JSON body')
  const body = readBody(incoming, { limit: o.bodyLimit, workspace })
  return body.then((fields) =>
    withParams(o.body === undefined ? fields : { [o.body]: fields }, params),
  )
}
