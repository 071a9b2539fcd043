/** Reads that are kept and shared, and commands that happen once. */
import { QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { mayPass } from './errors.ts'
import {
  type AnswerOf,
  type InputOf,
  type OperationId,
  type ReadId,
  takesIdempotencyKey,
} from './operations.ts'
import { callOperation } from './request.ts'
import { elsewhere } from './session.ts'

/** Hints say what has changed, so that what is shown need not be asked for again meanwhile. */
export const FRESH_MS = 30_000
const TRIES = 3
const waitMs = (tries: number): number => Math.min(1_000 * 2 ** tries, 8_000)

const retry = (tries: number, cause: Error): boolean => tries < TRIES && mayPass(cause)

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry,
      retryDelay: waitMs,
      // Being offline is said, and nothing is queued.
      networkMode: 'always',
    },
  },
})

elsewhere.subscribe(() => {
  if (elsewhere.get()) queryClient.clear()
})

export const readKey = <Id extends ReadId>(id: Id, input: InputOf<Id>) => [id, input] as const

export interface ReadOptions<Answer = unknown> {
  enabled?: boolean
  /** Milliseconds until it is read again, while it is about to change; or false. */
  again?: (answer: Answer | undefined, reads: number) => number | false
}

const readOf = <Id extends ReadId>(id: Id, input: InputOf<Id>) => ({
  queryKey: readKey(id, input),
  queryFn: ({ signal }: { signal: AbortSignal }) => callOperation(id, input, { signal }),
})

/** Reads what will be shown soon, unless that is known. */
export const readAhead = <Id extends ReadId>(id: Id, input: InputOf<Id>): void =>
  void queryClient.prefetchQuery(readOf(id, input))

export const useRead = <Id extends ReadId>(
  id: Id,
  input: InputOf<Id>,
  { enabled = true, again }: ReadOptions<AnswerOf<Id>> = {},
): UseQueryResult<AnswerOf<Id>> =>
  useQuery({
    ...readOf(id, input),
    enabled,
    ...(again && {
      refetchInterval: ({ state }: { state: { data?: unknown; dataUpdateCount: number } }) =>
        again(state.data as AnswerOf<Id> | undefined, state.dataUpdateCount),
    }),
  }) as never

/** Keys of decisions whose outcome is not known yet, by operation and input. */
const undecided = new Map<string, string>()

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const keyedCall = async <Id extends OperationId>(
  id: Id,
  input: InputOf<Id>,
  idempotencyKey: string,
): Promise<AnswerOf<Id>> => {
  for (let tries = 0; ; tries++)
    try {
      return await callOperation(id, input, { idempotencyKey })
    } catch (cause) {
      if (!navigator.onLine || !retry(tries, cause as Error)) throw cause
      await pause(waitMs(tries))
    }
}

/**
 * Calls an operation that changes something. Each try of it has the same key, also when the person
 * tries again after one without an answer, so that all together happen once.
 */
export const command = async <Id extends OperationId>(
  id: Id,
  input: InputOf<Id>,
): Promise<AnswerOf<Id>> => {
  if (!takesIdempotencyKey(id)) return callOperation(id, input)
  const name = `${id} ${JSON.stringify(input)}`
  const key = undecided.get(name) ?? newKey()
  undecided.set(name, key)
  try {
    const answer = await keyedCall(id, input, key)
    undecided.delete(name)
    return answer
  } catch (cause) {
    if (!mayPass(cause)) undecided.delete(name)
    throw cause
  }
}

/** `crypto.randomUUID` is missing on plain http in a LAN. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
