/** A generation as one call: created, followed until it is over, and cancelled when the caller loses interest. */
import type { TObject, TSchema } from '@sinclair/typebox'
import type { Answer } from '#actors/engine/letter'
import { isSettled, pathParams, settlingId } from '#contract/op'
import { type Clock, systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import { mayRun, type Operation } from '#ops/bind'
import { serialise } from '#ops/validate'
import type { McpContext } from './context.ts'
import { declared } from './declared-fields.ts'

export interface GenerationOptions {
  idempotencyKey?: string | undefined
  /** Aborting cancels the generation. */
  signal: AbortSignal
  /** Of `total`, always more than the time before: how much of the time that it may take has gone. */
  onProgress(progress: number, total: number, message: string): void
  /** For tests. */
  clock?: Clock
  deadlineMs?: number
}

export interface Generated {
  /** The record in the shape of the creating operation's output, with its status. */
  answer: Answer
  /** All that the reading operation says of it, what was made included: `{ batch: { …, items: [] } }`. The answer's body if it was not read. */
  whole: Body
  /** What the contract says of `whole`. */
  schema: TSchema
}

/** What an operation answered. */
type Body = Record<string, unknown>

/** As every generation has it, whatever it makes. */
interface GenerationRecord {
  id: string
  status: string
  error: string | null
  requested?: number
  delivered?: number
}

/** Not in the contract, on no surface: what cancelling is called. */
export const CANCEL = 'operator.generations.cancel'

/** Longer than the longest model call, shorter than what clients and proxies wait. */
const DEADLINE_MS = 175_000
/** The first look is early, for the composer takes less than a second; later ones are rarer. */
const FIRST_LOOK_MS = 150
const LOOKS_APART_MS = 3_000
const TOTAL = 100
/** The most a list gives at once: what was just made is among them. */
const MOST_LISTED = 100
/** While it runs: full is what is over. */
const MOST_UNDER_WAY = 99

const over = ({ status }: GenerationRecord): boolean => isSettled(status)

const siblingOf = ({ operations, call }: McpContext, operation: Operation): Operation | undefined => {
  const sibling = operations.get(settlingId(operation) ?? '')
  return sibling && mayRun(sibling, call) ? sibling : undefined
}

/** Every answer about one record has it under its name. */
const recordIn = (body: Body): GenerationRecord => Object.values(body)[0] as GenerationRecord

const messageOf = ({ status, error, requested, delivered }: GenerationRecord): string => {
  if (status === 'queued') return 'waiting for its turn'
  if (status === 'ready') return requested === undefined ? 'ready' : `ready: ${delivered} of ${requested} drafted`
  if (status === 'failed') return `failed: ${error}`
  return isSettled(status) ? status : 'drafting'
}

/** Waits, unless and until the signal aborts. */
const pause = async (clock: Clock, ms: number, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = () => resolve()
  using _timer = clock.after(ms, stop)
  signal.addEventListener('abort', stop)
  await promise
  signal.removeEventListener('abort', stop)
}

const parsed = ({ body }: Answer): Body => JSON.parse(body)

/** A list stands in where nothing reads the one record: each of its entries is as the creation has it. */
const shownBy = (sibling: Operation, operation: Operation): TSchema =>
  pathParams(sibling.path).length > 0 ? sibling.output : operation.output

/** The record as it stands; undefined while it cannot be read, which may pass. */
const read = async ({ run }: McpContext, sibling: Operation, made: Body): Promise<Body | undefined> => {
  const { id } = recordIn(made)
  try {
    if (pathParams(sibling.path).length > 0) return parsed(await run(sibling.id, { id }))
    const [listed] = Object.values(parsed(await run(sibling.id, { limit: MOST_LISTED }))) as [GenerationRecord[]]
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

/** Tells how far it is, never less than before and never the same twice. */
const reporter = ({ onProgress }: GenerationOptions) => {
  let reported = -1
  return (record: GenerationRecord, share: number): void => {
    const progress = over(record) ? TOTAL : Math.min(MOST_UNDER_WAY, Math.floor(TOTAL * share))
    if (progress <= reported) return
    reported = progress
    onProgress(progress, TOTAL, messageOf(record))
  }
}

/** Looks at the record, once at least, until it is over, the time is up or the caller is gone. Gives what was seen last. */
const follow = async ({ context, sibling, options }: Following, created: Body): Promise<Body> => {
  const { signal, clock = systemClock, deadlineMs = DEADLINE_MS } = options
  const report = reporter(options)
  const startedAt = clock.monotonic()
  const gone = () => clock.monotonic() - startedAt
  let body = created
  for (let apart = FIRST_LOOK_MS; ; apart = Math.min(LOOKS_APART_MS, apart * 1.5)) {
    report(recordIn(body), gone() / deadlineMs)
    if (!over(recordIn(body))) await pause(clock, Math.min(apart, deadlineMs - gone()), signal)
    body = (await read(context, sibling, created)) ?? body
    if (over(recordIn(body))) report(recordIn(body), 1)
    if (over(recordIn(body)) || signal.aborted || gone() >= deadlineMs) return body
  }
}

/**
 * Creates a record and answers once it has settled, or with the record as it stands when that takes too long, or when
 * the caller may not read it. When `signal` aborts before it is over, the generation is cancelled, and the answer is the record as
 * that has left it; when it had aborted before there was any, it rejects with the signal's reason.
 */
export const runGeneration = async (
  context: McpContext,
  { operation, input }: { operation: Operation; input: unknown },
  options: GenerationOptions,
): Promise<Generated> => {
  const { signal, idempotencyKey } = options
  signal.throwIfAborted()
  const answer = await context.run(operation.id, input, { idempotencyKey })
  const created = parsed(answer)
  const sibling = siblingOf(context, operation)
  if (!sibling) return { answer, whole: created, schema: operation.output }
  let body = await follow({ context, sibling, options }, created)
  if (signal.aborted && !over(recordIn(body))) {
    await context.run(CANCEL, { id: recordIn(body).id })
    body = (await read(context, sibling, body)) ?? body
  }
  return {
    answer: { ...answer, body: serialise(operation, declared(operation.output as TObject, body)) },
    whole: body,
    schema: shownBy(sibling, operation),
  }
}
