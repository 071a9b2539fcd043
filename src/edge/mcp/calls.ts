/** Requests that run in this process, of either era, by whose they are: some wait for minutes, and nobody may pile them up. */
import { type McpCaller, nameOf } from './caller.ts'

export class Calls {
  readonly #running = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  of(caller: McpCaller): number {
    return this.#running.get(nameOf(caller)) ?? 0
  }

  async count<T>(caller: McpCaller, run: () => Promise<T>): Promise<T> {
    this.#add(nameOf(caller), 1)
    try {
      return await run()
    } finally {
      this.#add(nameOf(caller), -1)
    }
  }

  #add(name: string, change: number): void {
    const count = (this.#running.get(name) ?? 0) + change
    if (count === 0) this.#running.delete(name)
    else this.#running.set(name, count)
    this.#total += change
  }
}
