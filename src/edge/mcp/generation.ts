/**
 * A generation, or a job of the agent, as one tool call. It is created, watched until it settles or
 * the deadline passes, and cancelled if the caller cancels.
 */
import type { TSchema } from '@sinclair/typebox'
import type { Answer } from '#actors/engine/letter'
import { pathParams } from '#contract/op'
import { isSettled, settlingId } from '#contract/settling'
import { type Clock, systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import { mayRun } from '#ops/engine/access'
import type { Operation } from '#ops/engine/bind'
import { cut } from './answer/truncate.ts'
import type { McpContext } from './context.ts'

export interface GenerationOptions {
  idempotencyKey?: string | undefined
  /** Aborting cancels the generation, unless the reason is `LEFT`. */
  signal: AbortSignal
  /** Reports the elapsed share of the deadline; `progress` grows with each call. */
  onProgress?: ((progress: number, total: number, message: string) => void) | undefined
  /** Set only by tests. */
  clock?: Clock
  deadlineMs?: number
}

/**
 * The abort reason of a caller that no longer waits, for example because its time is up. What the
 * call began continues.
 */
export const LEFT = Symbol('left')

export interface Generated {
  /**
   * The record with what was made, in the form that the operation for reading it returns: `{ batch:
   * { …, items: [] } }`.
   */
  answer: Answer
  /** The schema of the answer's body. */
  schema: TSchema
  /** The operation that reads the record, if it has not settled yet. */
  unsettled?: { operation: Operation; id: string }
}

type Body = Record<string, unknown>

/** The fields that every generation has. */
interface GenerationRecord {
  id: string
  status: string
  error: string | null
  requested?: number
  delivered?: number
  shortfall?: string | null
}

/**
 * An internal operation that no surface offers. It cancels records that have no operation of their
 * own for that.
 */
export const CANCEL = 'operator.generations.cancel'

/** The operation that cancels what `sibling` reads. */
const cancelling = ({ operations }: McpContext, { id }: Operation): string => {
  const own = `${id.slice(0, id.lastIndexOf('.'))}.cancel`
  return operations.has(own) ? own : CANCEL
}

/**
 * Together with the reads before and after the wait, this takes at most 45 seconds, because clients
 * give up after 60.
 */
const DEADLINE_MS = 43_000
/**
 * The first read is early, because the composer takes less than a second. Later reads are further
 * apart.
 */
const FIRST_READ_MS = 150
const LONGEST_PAUSE_MS = 3_000
const TOTAL = 100
/** The largest page of a list. The new record is on the first one. */
const MAX_LISTED = 100
/** The longest line in a progress message, in characters. */
const LONGEST_LINE = 500
/** The highest progress that is reported before the record settles. */
const MAX_UNSETTLED = 99

const hasSettled = ({ status }: GenerationRecord): boolean => isSettled(status)

const siblingOf = (
  { operations, call }: McpContext,
  operation: Operation,
): Operation | undefined => {
  const sibling = operations.get(settlingId(operation) ?? '')
  return sibling && mayRun(sibling, call) ? sibling : undefined
}

/** The answer wraps its record in one field, such as `{ batch: {…} }`. */
const recordIn = (body: Body): GenerationRecord => Object.values(body)[0] as GenerationRecord

/** The last line that the workspace's agent has written in a job. */
const lastLine = ({
  answer,
  steps = [],
}: {
  answer?: { content: string } | null
  steps?: { kind: string; result: string | null }[]
}) => {
  const said =
    answer?.content ?? steps.findLast(({ kind, result }) => kind === 'model' && result)?.result
  return said?.split('\n').findLast((line) => line.trim() !== '')
}

const messageOf = (body: Body): string => {
  const { status, error, requested, delivered, shortfall } = recordIn(body)
  const line = lastLine(body)
  if (line !== undefined) return cut(line, LONGEST_LINE)
  if (status === 'running') return 'working'
  if (status === 'queued') return 'waiting for its turn'
  if (status === 'ready')
    return requested === undefined
      ? 'ready'
      : `ready: ${shortfall ?? `${delivered} of ${requested} drafted`}`
  if (status === 'failed') return `failed: ${error}`
  return isSettled(status) ? status : 'drafting'
}

/** Waits for `ms`, or until the signal aborts. */
const pause = async (clock: Clock, ms: number, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = () => resolve()
  using _timer = clock.after(ms, stop)
  signal.addEventListener('abort', stop)
  await promise
  signal.removeEventListener('abort', stop)
}

const parseBody = ({ body }: Answer): Body => JSON.parse(body)

/**
 * The schema of what `read` returns. The entries of a list have the same shape as the created
 * record.
 */
const shownBy = (sibling: Operation, operation: Operation): TSchema =>
  pathParams(sibling.path).length > 0 ? sibling.output : operation.output

/**
 * The current record. If no operation reads it by itself, it is looked up in a list. Undefined
 * after an error that may pass.
 */
const read = async (
  { run }: McpContext,
  sibling: Operation,
  made: Body,
): Promise<Body | undefined> => {
  const { id } = recordIn(made)
  try {
    if (pathParams(sibling.path).length > 0) return parseBody(await run(sibling.id, { id }))
    const [listed] = Object.values(parseBody(await run(sibling.id, { limit: MAX_LISTED }))) as [
      GenerationRecord[],
    ]
    const found = listed.find((one) => one.id === id)
    return found && { [Object.keys(made)[0]!]: found }
  } catch (cause) {
    const { status } = AppError.from(cause)
    if (status === 429 || status >= 500) return undefined
    throw cause
  }
}

interface Following {
  context: McpContext
  sibling: Operation
  options: GenerationOptions
}

/** Reports progress, each time more than before. */
const reporter = ({ onProgress }: GenerationOptions) => {
  let reported = -1
  return (body: Body, share: number): void => {
    const progress = hasSettled(recordIn(body))
      ? TOTAL
      : Math.min(MAX_UNSETTLED, Math.floor(TOTAL * share))
    if (progress <= reported) return
    reported = progress
    onProgress?.(progress, TOTAL, messageOf(body))
  }
}

/**
 * Reads the record, at least once, until it settles, the deadline passes or the caller cancels.
 * Returns the last body that was read.
 */
const follow = async ({ context, sibling, options }: Following, created: Body): Promise<Body> => {
  const { signal, clock = systemClock, deadlineMs = DEADLINE_MS } = options
  const report = reporter(options)
  const startedAt = clock.monotonic()
  const elapsed = () => clock.monotonic() - startedAt
  let body = created
  for (let pauseMs = FIRST_READ_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
    report(body, elapsed() / deadlineMs)
    if (!hasSettled(recordIn(body)))
      await pause(clock, Math.min(pauseMs, deadlineMs - elapsed()), signal)
    body = (await read(context, sibling, created)) ?? body
    if (hasSettled(recordIn(body))) report(body, 1)
    if (hasSettled(recordIn(body)) || signal.aborted || elapsed() >= deadlineMs) return body
  }
}

/**
 * Creates a record and resolves when it has settled. Resolves with the unsettled record when the
 * deadline has passed, if the caller leaves, or if the caller may not read it. If `signal` aborts,
 * cancels the generation and resolves with the cancelled record. If it aborted before the start,
 * rejects with its reason.
 */
export const runGeneration = async (
  context: McpContext,
  { operation, input }: { operation: Operation; input: unknown },
  options: GenerationOptions,
): Promise<Generated> => {
  const { signal, idempotencyKey } = options
  signal.throwIfAborted()
  const answer = await context.run(operation.id, input, { idempotencyKey })
  const created = parseBody(answer)
  const sibling = siblingOf(context, operation)
  if (!sibling) return { answer, schema: operation.output }
  let body = await follow({ context, sibling, options }, created)
  if (signal.aborted && signal.reason !== LEFT && !hasSettled(recordIn(body))) {
    await context.run(cancelling(context, sibling), { id: recordIn(body).id })
    body = (await read(context, sibling, body)) ?? body
  }
  return {
    answer: { ...answer, body: JSON.stringify(body) },
    schema: shownBy(sibling, operation),
    ...(hasSettled(recordIn(body))
      ? {}
      : { unsettled: { operation: sibling, id: recordIn(body).id } }),
  }
}
