/** Processes that are killed at random times, in turn, and replaced at once. */

/** A process that can be killed; `kill` resolves when it is gone. */
export interface Mortal {
  kill(): Promise<void>
}

export interface Killing<T extends Mortal> extends AsyncDisposable {
  /** How many are killed in all. */
  count: number
  /** The process of each place that runs, or ran last. */
  running(): T[]
  /** How many have been killed so far. */
  kills(): number
  /**
   * Resolves when all kills have happened and every place has a running process. Rejects when a
   * start fails.
   */
  over: Promise<void>
  /** When that was, or when a start failed, by `performance.now()`. */
  overSince(): number | undefined
}

export interface KillingOptions<T extends Mortal> {
  places: number
  count: number
  /** Numbers in [0, 1). */
  next: () => number
  /** Starts a process; `nth` counts the starts. */
  start(nth: number): Promise<T>
  /**
   * Awaited after a process has been replaced, before it can be killed in its turn. `kills`: the
   * number of kills so far, including that of the replaced process.
   */
  busy?(kills: number): Promise<void>
}

/**
 * Counts from the last kill: until then, on a machine where servers start slowly, nobody may serve
 * anything for a long time.
 */
const GIVE_UP_MS = 300_000

/** Whether a client that has been asking since `began` gives up. */
export const isOverdue = (overSince: number | undefined, began: number): boolean =>
  overSince !== undefined && performance.now() > Math.max(began, overSince) + GIVE_UP_MS

/** Milliseconds between two kills. */
const BETWEEN = { from: 150, to: 1_050 }

/** One place restarts while the other is killed, so at times neither is running. */
export async function startKilling<T extends Mortal>({
  places,
  count,
  next,
  start,
  busy,
}: KillingOptions<T>): Promise<Killing<T>> {
  let starts = 0
  let [kills, stopped] = [0, false]
  let overSince: number | undefined
  const running: T[] = []
  while (running.length < places) running.push(await start(starts++))
  const restarts: Promise<void>[] = running.map(async () => {})
  const strike = async (at: number): Promise<void> => {
    await running[at]!.kill()
    const killed = ++kills
    running[at] = await start(starts++)
    await busy?.(killed)
  }
  const over = (async () => {
    for (let turn = 0; turn < count && !stopped; turn++) {
      const at = turn % places
      await restarts[at]
      // After the wait, because servers that start slowly would otherwise be killed as soon as they
      // have started.
      await Bun.sleep(BETWEEN.from + next() * (BETWEEN.to - BETWEEN.from))
      restarts[at] = strike(at)
      // Awaited by the next turn of this place, or below.
      restarts[at].catch(() => {})
    }
    await Promise.all(restarts)
  })().finally(() => {
    overSince = performance.now()
  })
  over.catch(() => {})
  return {
    count,
    running: () => running,
    kills: () => kills,
    over,
    overSince: () => overSince,
    async [Symbol.asyncDispose]() {
      stopped = true
      await over.catch(() => {})
      await Promise.all(running.map((process) => process.kill()))
    },
  }
}

/**
 * Spreads this many things over the kills: each begins when its share of the kills has happened.
 * Each of `clients` begins one after the other.
 */
export const spreadOver = async (
  { count: kills, kills: killed }: Pick<Killing<Mortal>, 'count' | 'kills'>,
  { count, clients }: { count: number; clients: number },
  begin: (nth: number) => Promise<void>,
): Promise<void> => {
  let begun = 0
  const client = async (): Promise<void> => {
    while (begun < count)
      if (begun * kills > (killed() + 1) * count) await Bun.sleep(20)
      else await begin(begun++)
  }
  await Promise.all(Array.from({ length: clients }, client))
}
