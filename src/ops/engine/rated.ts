/**
 * An operation between its rates and its answer: its input is read and checked, and what is left of
 * the rates goes with the answer or error.
 */
import type { Answer } from '#actors/engine/letter'
import { KEY_LIMIT, type NamedOp, pathParams } from '#contract/op'
import type { Allowance } from '#kernel/allowance'
import { AppError, fail } from '#kernel/errors'
import type { Call } from './call.ts'
import { flawOfText, validate, validateMessage } from './validate.ts'

interface Rated<A extends Answer> {
  /** Counts the request, after the checks that come before the rates. */
  count(): Allowance[]
  read(): unknown
  /** Counts what the input takes beyond that. */
  countMore?(input: unknown): Allowance[]
  run(input: unknown): Promise<A>
}

/** One of each name: the later. */
const newest = (allowances: Allowance[], more: Allowance[] = []): Allowance[] => [
  ...new Map([...allowances, ...more].map((one) => [one.name, one])).values(),
]

/** Throws `invalid_input`, and `not_found` for an operation that takes any id. */
const requireValid = (o: NamedOp, input: unknown): void => {
  try {
    // Internal operations are given what came in from outside.
    const check = o.id.startsWith('operator.') ? validateMessage : validate
    check(o.input, input)
  } catch (cause) {
    const names = o.anyId ? pathParams(o.path) : []
    const isId =
      cause instanceof AppError && cause.details?.some(({ path }) => names.includes(path))
    throw isId ? new AppError('not_found', 'nothing has this id, which is no uuid') : cause
  }
}

/**
 * Runs an operation with its input once that is valid, and adds the allowances of the rates to the
 * answer or error.
 */
export const runRated = async <A extends Answer>(
  o: NamedOp,
  { count, read, countMore, run }: Rated<A>,
): Promise<A> => {
  let allowances = count()
  try {
    const reading = read()
    const input = reading instanceof Promise ? await reading : reading
    requireValid(o, input)
    allowances = newest(allowances, countMore?.(input))
    const answer = await run(input)
    return allowances.length === 0
      ? answer
      : { ...answer, allowances: newest(allowances, answer.allowances) }
  } catch (thrown) {
    const cause = o.failure === undefined ? thrown : AppError.worded(thrown, o.failure)
    if (allowances.length === 0 || !(cause instanceof AppError)) throw cause
    throw AppError.withAllowances(cause, newest(allowances, cause.allowances))
  }
}

export const requireUsableKey = ({ idempotencyKey: key }: Call): void => {
  const message = key === undefined ? undefined : (flawOfText(key)?.message ?? flawOfLength(key))
  if (message !== undefined)
    fail('invalid_input', `Idempotency-Key ${message}`, {
      details: [{ path: 'Idempotency-Key', message }],
    })
}

/** Counts code points, as Postgres does. */
const flawOfLength = (key: string): string | undefined => {
  const isWithin = key.length > 0 && key.length <= 2 * KEY_LIMIT && [...key].length <= KEY_LIMIT
  return isWithin ? undefined : `must have 1 to ${KEY_LIMIT} characters`
}
