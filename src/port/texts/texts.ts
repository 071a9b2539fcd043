/**
 * Work on texts of strangers and models, in a thread beside the event loop, so that even the worst
 * text that anybody finds does not stop anybody else.
 */
import { sourceFile } from '#kernel/assets'
import type { Clock } from '#kernel/clock'
import { FairLimit } from '#kernel/fair-limit'
import { Thread } from '../thread/thread.ts'
import type { TextComputations } from './computations.ts'

export interface TextRequest {
  name: keyof TextComputations
  input: unknown[]
}

/** `fault`: an error and its stack. */
export type TextAnswer = { result: unknown } | { fault: string }

export interface Texts {
  /**
   * Returns what the computation returns, for a workspace. Rejects if it throws, takes too long or
   * kills its thread, if too many computations of the workspace wait, or if its turn does not come
   * in time. Once its turn has come, it also rejects with the reason of `signal` as soon as that
   * aborts.
   */
  compute<N extends keyof TextComputations>(
    tenantId: string,
    computation: { name: N; input: Parameters<TextComputations[N]> },
    signal: AbortSignal,
  ): Promise<ReturnType<TextComputations[N]>>
}

export interface TextOptions {
  /** The path of the thread's program. */
  program?: string
  clock?: Clock
  /** How many computations of a workspace may wait. */
  bound?: number
}

/**
 * The worst known text takes a tenth of a second. The rest is for starting the thread on a busy
 * machine.
 */
const LONGEST_MS = 10_000
/** How many may wait for one workspace. Each of its channels asks for one at a time. */
const MOST_WAITING = 32
const WAIT_MS = 60_000

class FairTexts implements Texts, Disposable {
  readonly #thread: Thread<TextRequest, TextAnswer>
  /**
   * One runs at a time, for each workspace in turn, so that whoever sends hostile texts waits
   * behind their own.
   */
  readonly #turns: FairLimit

  constructor({
    program = sourceFile('port/texts/entry.ts'),
    bound = MOST_WAITING,
    ...more
  }: TextOptions) {
    this.#thread = new Thread({
      program,
      longestMs: LONGEST_MS,
      mostWaiting: 1,
      name: 'text',
      ...more,
    })
    this.#turns = new FairLimit({ name: 'text', total: 1, bound, withinMs: WAIT_MS })
  }

  async compute<N extends keyof TextComputations>(
    tenantId: string,
    request: { name: N; input: Parameters<TextComputations[N]> },
    signal: AbortSignal,
  ): Promise<ReturnType<TextComputations[N]>> {
    const answer = await this.#turns.run(tenantId, () => this.#thread.ask(request, signal))
    if ('fault' in answer) throw new Error(`a computation on a text failed: ${answer.fault}`)
    return answer.result as ReturnType<TextComputations[N]>
  }

  [Symbol.dispose](): void {
    this.#thread[Symbol.dispose]()
  }
}

export const openTexts = (options: TextOptions = {}): Texts & Disposable => new FairTexts(options)
