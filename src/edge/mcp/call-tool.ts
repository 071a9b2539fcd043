/** One tool call: runs the operation with all its checks, and returns its answer or error as a tool result. */
import { type CallToolResult, type InputRequiredResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { TSchema } from '@sinclair/typebox'
import type { Answer } from '#actors/engine/letter'
import { readsOnly } from '#contract/op'
import { AppError, fail } from '#kernel/errors'
import type { Operation } from '#ops/bind'
import { isCapability } from './capabilities.ts'
import type { McpContext } from './context.ts'
import { type Elicitation, pageFor } from './elicitation.ts'
import { type GenerationOptions, runGeneration } from './generation.ts'
import { jsonOnOneLine } from './quotation.ts'
import { textOf } from './text.ts'
import { findTool, toolIndex, withModules } from './tools.ts'
import { moduleOf, type View } from './view.ts'

/** Fields of `_meta`, in requests and results. */
const META = {
  idempotencyKey: 'tendril/idempotency-key',
  replayed: 'tendril/idempotency-replayed',
  /** The record is not in its final state yet: REST answers 202. */
  pending: 'tendril/pending',
  error: 'tendril/error',
} as const

export interface ToolCall {
  name: string
  arguments: unknown
  meta: Record<string, unknown> | undefined
  /** Set if the client sent a progress token. */
  onProgress: GenerationOptions['onProgress'] | undefined
  /** Aborts when the client cancels the request. */
  signal: AbortSignal
  elicitation: Elicitation
}

/** Throws a JSON-RPC error for an unknown tool. Every other failure is a result, which the model can read and act on. */
export const callTool = async (context: McpContext, view: View, call: ToolCall): Promise<CallToolResult | InputRequiredResult> => {
  const o = await toolFor(context, call.name, view)
  try {
    const idempotencyKey = keyOf(o, call)
    const input = call.arguments ?? {}
    const { onProgress, signal } = call
    if (!o.settles || !onProgress) return successResult(await context.run(o.id, input, { idempotencyKey }), o.output)
    const { answer, whole, schema } = await runGeneration(context, { operation: o, input }, { idempotencyKey, signal, onProgress })
    return successResult(answer, schema, whole)
  } catch (cause) {
    const error = AppError.from(cause)
    const page = error.code === 'approval_required' && call.elicitation.isPossible ? pageFor(error, call.elicitation) : undefined
    return page ?? errorResult(error, context.call.requestId)
  }
}

/** A capability may have to be asked about; its key finds the call again. */
const keyOf = (o: Operation, { meta, elicitation }: ToolCall): string | undefined => {
  if (isCapability(o)) return keyIn(meta) ?? elicitation.key
  return readsOnly(o) ? undefined : keyIn(meta)
}

const toolFor = async (context: McpContext, name: string, view: View): Promise<Operation> => {
  const { operations } = context
  const known = findTool(operations, name, view)
  if (known) return known
  const isOfModule = moduleOf(toolIndex(operations).get(name) ?? { id: '' }) !== undefined
  const enabled = isOfModule ? findTool(operations, name, await withModules(context, view)) : undefined
  return enabled ?? refuse(context, name, view)
}

const refuse = ({ operations }: McpContext, name: string, { readOnly, toolsets }: View): never => {
  const exists = toolIndex(operations).has(name)
  const others = toolsets ? 'uses other toolsets' : 'has it only with ?toolsets, or once the workspace has enabled its module'
  const why = readOnly ? 'this session is read-only or uses other toolsets' : `this session ${others}`
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, exists ? `Tool ${name} is not available: ${why}` : `Unknown tool: ${name}`)
}

const keyIn = (meta: Record<string, unknown> = {}): string | undefined => {
  const key = meta[META.idempotencyKey] ?? meta.idempotencyKey
  if (key === undefined || typeof key === 'string') return key
  const message = 'must be text'
  return fail('invalid_input', `_meta ${META.idempotencyKey} ${message}`, { details: [{ path: META.idempotencyKey, message }] })
}

/** The result of a tool that only reads. */
export interface ReadResult {
  /** The members of the result's object as JSON, without braces and `_meta`. */
  members: string
  meta?: Record<string, unknown>
}

/**
 * Undefined if the operation refuses a caller whose access is assumed: the refusal may have come from that, or before any statement has
 * checked the access.
 */
export const readTool = async (context: McpContext, o: Operation, input: unknown): Promise<ReadResult | undefined> => {
  try {
    const { body } = await context.run(o.id, input)
    const text = JSON.stringify(textOf(JSON.parse(body), o.output))
    return { members: withoutSeparators(`"content":[{"type":"text","text":${text}}],"structuredContent":${body}`) }
  } catch (cause) {
    const error = AppError.from(cause)
    if (context.call.principal.scopes && error.status < 500) return undefined
    const { _meta: meta, ...rest } = errorResult(error, context.call.requestId)
    return { members: JSON.stringify(rest).slice(1, -1), meta }
  }
}

/** `shown`: the content of the text, if it is more than the answer. `schema`: of that content. */
const successResult = ({ status, body, replayed }: Answer, schema: TSchema, shown?: Record<string, unknown>): CallToolResult => {
  const content = JSON.parse(body)
  const meta = { ...(replayed ? { [META.replayed]: true } : {}), ...(status === 202 ? { [META.pending]: true } : {}) }
  return {
    content: [{ type: 'text', text: textOf(shown ?? content, schema) }],
    structuredContent: SEPARATORS.test(body) ? JSON.parse(body, onOneLine) : content,
    ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}),
  }
}

/** JSON allows these unescaped, but other readers take them for line ends. */
const SEPARATORS = /[\u2028\u2029]/

/** JSON in which these are escaped. They can stand in strings only. */
const withoutSeparators = (json: string): string =>
  SEPARATORS.test(json) ? json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') : json

/** TypeScript does not declare it yet. */
const rawJson = (JSON as JSON & { rawJSON(text: string): unknown }).rawJSON

/** A reviver for `JSON.parse` that escapes these characters when the value is written again. */
const onOneLine = (_: string, value: unknown): unknown =>
  typeof value === 'string' && SEPARATORS.test(value) ? rawJson(jsonOnOneLine(value)) : value

/**
 * The error's data is in `_meta`: clients validate structured content against the tool's output schema even when `isError` is
 * set, and would drop the error.
 */
const errorResult = ({ code, message, details, retryAfter }: AppError, requestId: string) => {
  const lines = (details ?? []).slice(1).map((detail) => `- ${detail.path || 'input'} ${detail.message}`)
  const again = retryAfter === undefined ? [] : [`Try again in ${Math.max(1, Math.ceil(retryAfter))} s.`]
  const error = {
    ...{ code, message, request_id: requestId },
    ...(details ? { details } : {}),
    ...(retryAfter === undefined ? {} : { retry_after: Math.max(1, Math.ceil(retryAfter)) }),
  }
  const text = [message.startsWith(code) ? message : `${code}: ${message}`, ...lines, ...again].join('\n')
  return { isError: true, content: [{ type: 'text' as const, text }], _meta: { [META.error]: error } }
}
