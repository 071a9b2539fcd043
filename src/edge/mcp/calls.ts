/** Counts the running requests of each caller. Some wait for minutes, and a bound keeps a caller from piling them up. */
import { callerId, type McpCaller } from './caller.ts'

export class Calls {
  readonly #running = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  of(caller: McpCaller): number {
    return this.#running.get(callerId(caller)) ?? 0
  }

  async count<T>(caller: McpCaller, run: () => Promise<T>): Promise<T> {
    this.#add(callerId(caller), 1)
    try {
      return await run()
    } finally {
      this.#add(callerId(caller), -1)
    }
  }

  #add(name: string, change: number): void {
    const count = (this.#running.get(name) ?? 0) + change
    if (count === 0) this.#running.delete(name)
    else this.#running.set(name, count)
    this.#total += change
  }
}
