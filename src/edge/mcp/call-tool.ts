/**
 * One tool call: runs the operation with all its checks, and returns its answer or error as a tool
 * result.
 */
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { readsOnly } from '#contract/op'
import { NEXT } from '#domain/growth/way-on'
import { AppError } from '#kernel/errors'
import { nearest } from '#kernel/nearest'
import type { Operation } from '#ops/engine/bind'
import { type Fitted, fitAnswer, readFitting } from './answer/fitting.ts'
import { jsonOnOneLine } from './answer/quotation.ts'
import { cut } from './answer/truncate.ts'
import type { McpContext } from './context.ts'
import { type Elicitation, pageFor } from './elicitation.ts'
import { type GenerationOptions, runGeneration } from './generation.ts'
import { keyedCall } from './idempotency-argument.ts'
import { readingCall, wayOnIn } from './next-call.ts'
import type { PlainCall, PlainResult } from './plain-call.ts'
import { resolveCall } from './records.ts'
import { findTool, toolIndex, visibleTools, withModules } from './tools.ts'
import { moduleOf, toolsetOf, type View } from './view.ts'

/** Fields of `_meta` in results. */
const META = {
  replayed: 'tendril/idempotency-replayed',
  /** The record is not in its final state yet. REST answers 202. */
  pending: 'tendril/pending',
  error: 'tendril/error',
} as const

export interface ToolRequest {
  name: string
  arguments: unknown
  meta: Record<string, unknown> | undefined
  /** Set if the client sent a progress token. */
  onProgress: GenerationOptions['onProgress'] | undefined
  /** Aborts when the client cancels the request. */
  signal: AbortSignal
  elicitation: Elicitation
}

/**
 * Throws a JSON-RPC error for an unknown tool. All other failures are results, which the model can
 * read and act on.
 */
export const callTool = async (
  context: McpContext,
  view: View,
  call: ToolRequest,
): Promise<CallToolResult | InputRequiredResult> => {
  const o = await toolFor(context, call.name, view)
  try {
    const { input: given, key: idempotencyKey } = keyedCall(o, {
      ...call,
      asked: call.elicitation.key,
    })
    const asked = resolveCall(context.operations, o, given)
    const { operation, input } = asked
    if (operation.kind === 'query') return successResult(await readFitting(context, asked))
    if (!operation.settles)
      return successResult(
        fitAnswer(await context.run(operation.id, input, { idempotencyKey }), {
          schema: operation.output,
        }),
      )
    const { onProgress, signal } = call
    const { answer, schema, unsettled } = await runGeneration(
      context,
      { operation, input },
      { idempotencyKey, signal, onProgress },
    )
    const next =
      unsettled && `Not done yet. In about 20 s, read it: ${readingCall(context, unsettled, view)}`
    return successResult(fitAnswer(answer, { schema }), next)
  } catch (cause) {
    const error = AppError.from(cause)
    const page =
      error.code === 'approval_required' && call.elicitation.isPossible
        ? pageFor(error, call.elicitation)
        : undefined
    return page ?? errorResult(error, context, view)
  }
}

const toolFor = async (context: McpContext, name: string, view: View): Promise<Operation> => {
  const { operations } = context
  const known = findTool(operations, name, view)
  if (known) return known
  const isOfModule = moduleOf(toolIndex(operations).get(name) ?? { id: '' }) !== undefined
  const enabled = isOfModule
    ? findTool(operations, name, await withModules(context, view))
    : undefined
  return enabled ?? refuse(context, name, view)
}

const refuse = ({ operations, call }: McpContext, name: string, view: View): never => {
  const exists = toolIndex(operations).get(name)
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    exists ? unavailable(exists, view) : unknown(operations, name, { call, view }),
  )
}

const unavailable = (o: Operation, { readOnly, toolsets }: View): string => {
  const others = toolsets
    ? 'uses other toolsets'
    : 'has it only with ?toolsets, or once the workspace has enabled its module'
  const why = readOnly && !readsOnly(o) ? 'is read-only' : others
  return `Tool ${o.tool} is not available: this session ${why}. It is in the toolset ${toolsetOf(o)}.`
}

const unknown = (
  operations: McpContext['operations'],
  name: string,
  { call, view }: Pick<McpContext, 'call'> & { view: View },
): string => {
  const near = nearest(
    name,
    visibleTools(operations, call, view).map(({ tool }) => tool!),
  )
  return `Unknown tool: ${cut(name, LONGEST_NAME)}.${near ? ` Did you mean ${near}?` : ' tools/list has them all.'}`
}

const LONGEST_NAME = 200

/**
 * Undefined if the operation refuses a caller whose access is assumed, because the refusal may be
 * due to that assumption, or may have come before any statement checked the access.
 */
export const readTool = async (
  context: McpContext,
  { operation, input: given, view }: Pick<PlainCall, 'operation' | 'input' | 'view'>,
): Promise<PlainResult | undefined> => {
  try {
    const { body, text } = await readFitting(
      context,
      resolveCall(context.operations, operation, given),
    )
    const content = JSON.stringify([{ type: 'text', text }])
    return {
      members: withoutSeparators(
        `"content":${content},"structuredContent":${JSON.stringify(body)}`,
      ),
    }
  } catch (cause) {
    const error = AppError.from(cause)
    if (context.call.principal.scopes && error.status < 500) return undefined
    const { _meta: meta, ...rest } = errorResult(error, context, view)
    return { members: JSON.stringify(rest).slice(1, -1), meta }
  }
}

/** `next`: what to do about a record that is not in its final state. */
const successResult = (
  { answer: { status, replayed }, body, text }: Fitted,
  next?: string,
): CallToolResult => {
  const isPending = status === 202 || next !== undefined
  const meta = {
    ...(replayed ? { [META.replayed]: true } : {}),
    ...(isPending ? { [META.pending]: true } : {}),
  }
  const json = JSON.stringify(body)
  return {
    content: [{ type: 'text', text: [text, ...(next ? [next] : [])].join('\n') }],
    structuredContent: SEPARATORS.test(json) ? JSON.parse(json, onOneLine) : body,
    ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}),
  }
}

/** JSON allows these unescaped, but other readers take them for line ends. */
const SEPARATORS = /[\u2028\u2029]/

/** JSON with these characters escaped. They can only occur in strings. */
const withoutSeparators = (json: string): string =>
  SEPARATORS.test(json)
    ? json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
    : json

/** TypeScript does not declare `rawJSON` yet. */
const rawJson = (JSON as JSON & { rawJSON(text: string): unknown }).rawJSON

/** A reviver for `JSON.parse` that escapes these characters when the value is written again. */
const onOneLine = (_: string, value: unknown): unknown =>
  typeof value === 'string' && SEPARATORS.test(value) ? rawJson(jsonOnOneLine(value)) : value

/**
 * The error's data is in `_meta`: clients validate structured content against the tool's output
 * schema even when `isError` is set, and would drop the error.
 */
const errorResult = (cause: AppError, context: McpContext, view: View) => {
  const { code, message, conflict, details = [], retryAfter } = cause
  const lines = details
    .slice(1)
    .flatMap(({ path, message: more }) => (path === NEXT ? [] : `- ${path || 'input'} ${more}`))
  const next = wayOnIn(cause, context, view)
  const again =
    retryAfter === undefined ? [] : [`Try again in ${Math.max(1, Math.ceil(retryAfter))} s.`]
  const error = {
    code,
    message,
    ...conflict,
    request_id: context.call.requestId,
    ...(details.length > 0 ? { details } : {}),
    ...(retryAfter === undefined ? {} : { retry_after: Math.max(1, Math.ceil(retryAfter)) }),
  }
  const first = message.startsWith(code) ? message : `${code}: ${message}`
  const text = [first, ...lines, ...(next ? [`Next: ${next}`] : []), ...again].join('\n')
  return {
    isError: true,
    content: [{ type: 'text' as const, text }],
    _meta: { [META.error]: error },
  }
}
