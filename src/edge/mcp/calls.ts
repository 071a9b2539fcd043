/**
 * Counts the running requests of each caller and workspace. Some of them wait for minutes, and a
 * limit keeps them from piling up.
 */
import { callerId, type McpCaller } from './caller.ts'

export class Calls {
  /** Counts by caller and by workspace. */
  readonly #running = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  of(caller: McpCaller): number {
    return this.#running.get(callerId(caller)) ?? 0
  }

  ofWorkspace({ tenantId }: McpCaller): number {
    return this.#running.get(tenantId) ?? 0
  }

  async count<T>(caller: McpCaller, run: () => Promise<T>): Promise<T> {
    this.#add(caller, 1)
    try {
      return await run()
    } finally {
      this.#add(caller, -1)
    }
  }

  #add(caller: McpCaller, change: number): void {
    for (const name of [callerId(caller), caller.tenantId]) {
      const count = (this.#running.get(name) ?? 0) + change
      if (count === 0) this.#running.delete(name)
      else this.#running.set(name, count)
    }
    this.#total += change
  }
}
