/** A request as the flat input of an operation: path parameters, query and body. Bodies are never converted, strings of the URL are. */
import type { TObject, TSchema } from '@sinclair/typebox'
import { isQuery, type NamedOp, pathParams } from '#contract/op'
import { AppError } from '#kernel/errors'

const MIB = 1_048_576
export const BODY_LIMIT = MIB

const invalid = (path: string, message: string): never => {
  throw new AppError('invalid_input', `${path} ${message}`.trim(), { details: [{ path, message }] })
}

const tooLarge = (limit: number): AppError =>
  new AppError('payload_too_large', `the body is larger than ${limit < MIB ? `${limit / 1_024} KiB` : `${limit / MIB} MiB`}`)

/** The whole body as text, read no further than the limit, in bytes. */
export const readText = async (request: Request, limit: number): Promise<string> => {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit)
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    return invalid('', 'the body is not valid UTF-8')
  }
}

const isJson = (type: string | null): boolean => /^application\/json\s*(;|$)/i.test(type ?? '')

const readBody = async (request: Request): Promise<Record<string, unknown>> => {
  const text = await readText(request, BODY_LIMIT)
  if (text === '') return {}
  if (!isJson(request.headers.get('content-type'))) throw new AppError('unsupported_media_type')
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return invalid('', 'the body is not valid JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return invalid('', 'the body must be a JSON object')
  return body as Record<string, unknown>
}

const convert = (schema: TSchema | undefined, text: string): unknown => {
  if (schema?.type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (schema?.type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

const readQuery = (search: string, input: TObject): Record<string, unknown> => {
  const query: Record<string, unknown> = {}
  for (const [name, text] of new URLSearchParams(search)) {
    if (Object.hasOwn(query, name)) invalid(name, 'is given twice')
    Object.defineProperty(query, name, { value: convert(input.properties[name], text), enumerable: true })
  }
  return query
}

/** What stands behind the question mark: addresses are long, and parsing one whole is not free. */
const searchOf = (url: string): string => {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1).replace(/#.*/s, '')
}

export const inputOf = async (
  o: NamedOp,
  request: Request,
  params: Record<string, string> | undefined,
): Promise<Record<string, unknown>> => {
  const search = searchOf(request.url)
  if (!isQuery(o) && search !== '') invalid('', 'this operation takes no query; send a JSON body')
  const given = isQuery(o) ? readQuery(search, o.input as TObject) : await readBody(request)
  if (params)
    for (const name of pathParams(o.path)) if (Object.hasOwn(given, name)) invalid(name, 'is part of the path and may not be given again')
  return { ...given, ...params }
}
