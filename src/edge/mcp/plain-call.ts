/**
 * Calls that need nothing of the SDK: one tool that only reads, in a message of its own and without
 * a wish for progress. They are most of the calls of an agent, and cost the SDK far more than the
 * read: it parses each message several times, and writes the answer as a stream of three pieces.
 * The answer is a JSON body instead, as the protocol allows. A broken connection loses nothing that
 * a second call would not find again.
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
  /** The fields of `_meta` that belong to the protocol, as JSON; empty if there are none. */
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
/** Fields of `_meta` that belong to the protocol begin so. */
const PROTOCOL = 'io.modelcontextprotocol/'

/** Undefined if the SDK must look at it. */
export const envelopeIn = (meta: unknown): string | undefined => {
  if (meta === undefined) return ''
  if (!isFields(meta) || 'progressToken' in meta) return undefined
  const own = Object.entries(meta).filter(([name]) => name.startsWith(PROTOCOL))
  return own.length === 0 ? '' : JSON.stringify(own)
}

/** Undefined for anything that the SDK must look at, malformed messages included. */
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
  if (!operation || operation.kind !== 'query' || !isFields(input)) return undefined
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

/** As of a session; `more`: further headers. */
export const plainAnswer = (
  { id, result: { members, meta } }: Answered,
  more: Record<string, string> = {},
): Response => {
  const result = meta ? `${members},"_meta":${JSON.stringify(meta)}` : members
  return new Response(`{"result":{${result}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`, {
    headers: { 'content-type': 'application/json', ...more },
  })
}
