import { sourceFile } from '#kernel/assets'
import type { Clock } from '#kernel/clock'
import { Thread, TooMany, TooSlow } from '../../thread/thread.ts'
import { GenerationError } from '../drafter.ts'
import type { ModelWorker } from './computations.ts'
import { computeRequest, type Request, type WorkerAnswer } from './messages.ts'

export interface WorkerOptions {
  /** The path of the worker's program. */
  program?: string
  clock?: Clock
  /** How many computations may wait for the running one. */
  mostWaiting?: number
}

/** The largest profile takes a tenth of this on a busy machine. */
const LONGEST_MS = 30_000
const TOO_LONG = `drafting took more than ${LONGEST_MS / 1_000} seconds; shorten the profile's writing_dna`
/** Lanes request at most eight at a time. */
const MOST_WAITING = 64

const explainError = (cause: unknown): unknown => {
  if (cause instanceof TooSlow) return new GenerationError(TOO_LONG)
  return cause instanceof TooMany
    ? new GenerationError('too much is being drafted at once; retry later')
    : cause
}

const resultOf = (answer: WorkerAnswer): unknown => {
  if ('result' in answer) return answer.result
  throw 'hint' in answer
    ? new GenerationError(answer.hint)
    : new Error(`a drafting computation failed: ${answer.fault}`)
}

/**
 * Computes in one thread, in the order of the requests, so that the server's event loop stays free.
 */
export const openThread = ({
  program = sourceFile('port/model/worker/entry.ts'),
  mostWaiting = MOST_WAITING,
  ...more
}: WorkerOptions = {}): ModelWorker & Disposable => {
  const thread = new Thread<Request, WorkerAnswer>({
    program,
    mostWaiting,
    longestMs: LONGEST_MS,
    name: 'drafting',
    ...more,
  })
  return {
    async compute(name, input, signal) {
      const answer = await thread.ask(computeRequest(name, input), signal).catch((cause) => {
        throw explainError(cause)
      })
      return resultOf(answer) as never
    },
    [Symbol.dispose]: () => thread[Symbol.dispose](),
  }
}
