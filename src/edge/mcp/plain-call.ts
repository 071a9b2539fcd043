/**
 * Calls that do not need the SDK: one tool that only reads, in a message of its own, without a
 * request for progress. Most calls of an agent are like that, and the SDK costs far more than the
 * read, because it parses each message several times and writes the answer as a stream of three
 * pieces. Here the answer is a JSON body instead, as the protocol allows. If the connection breaks,
 * nothing is lost that a second call would not find again.
 */
import type { RequestId } from '@modelcontextprotocol/server'
import type { Operation } from '#ops/engine/bind'
import type { McpContext } from './context.ts'
import { findTool } from './tools.ts'
import type { View } from './view.ts'

export interface PlainCall {
  id: RequestId
  operation: Operation
  input: object
  view: View
  /** The fields of `_meta` that belong to the protocol, as JSON. Empty if there are none. */
  envelope: string
}

/** The result of a tool that only reads. */
export interface PlainResult {
  /** The members of the result's object as JSON, without braces and `_meta`. */
  members: string
  meta?: Record<string, unknown>
}

type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const onlyHas = (value: Fields, names: readonly string[]): boolean => {
  for (const name in value) if (!names.includes(name)) return false
  return true
}

const MESSAGE = ['jsonrpc', 'id', 'method', 'params']
const PARAMS = ['name', 'arguments', '_meta']
/** The prefix of fields of `_meta` that belong to the protocol. */
const PROTOCOL = 'io.modelcontextprotocol/'

/** Undefined if the SDK must handle it. */
export const envelopeIn = (meta: unknown): string | undefined => {
  if (meta === undefined) return ''
  if (!isFields(meta) || 'progressToken' in meta) return undefined
  const own = Object.entries(meta).filter(([name]) => name.startsWith(PROTOCOL))
  return own.length === 0 ? '' : JSON.stringify(own)
}

/** Undefined for anything that the SDK must handle, including malformed messages. */
export const plainCallIn = (
  body: unknown,
  operations: McpContext['operations'],
  view: View,
): PlainCall | undefined => {
  if (
    !isFields(body) ||
    body.method !== 'tools/call' ||
    body.jsonrpc !== '2.0' ||
    !onlyHas(body, MESSAGE)
  )
    return undefined
  const { id, params } = body
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined
  if (!isFields(params) || !onlyHas(params, PARAMS)) return undefined
  const { name, arguments: input = {} } = params
  const operation = typeof name === 'string' ? findTool(operations, name, view) : undefined
  if (operation?.kind !== 'query' || !isFields(input)) return undefined
  const envelope = envelopeIn(params._meta)
  return envelope === undefined
    ? undefined
    : { id: id as RequestId, operation, input, view, envelope }
}

/** Whether the client accepts both forms of answers, as sessions require, and sent JSON. */
export const hasSessionHeaders = ({ headers }: Request): boolean => {
  const accept = headers.get('accept') ?? ''
  return (
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    headers.get('content-type') === 'application/json'
  )
}

interface Answered {
  id: RequestId
  result: PlainResult
}

/** An answer like that of a session. `more`: further headers. */
export const plainAnswer = (
  { id, result: { members, meta } }: Answered,
  more: Record<string, string> = {},
): Response => {
  const result = meta ? `${members},"_meta":${JSON.stringify(meta)}` : members
  return new Response(`{"result":{${result}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`, {
    headers: { 'content-type': 'application/json', ...more },
  })
}
