/**
 * Processes on one database, one at a time: each one takes over from the last, and is killed next.
 * Two servers and a database for each death would cost far more.
 */
import type { Overrides } from '#server/opening'
import { type AppOptions, type TestApp, testApp } from '../app.ts'
import { freshDb } from '../database/db.ts'
import { crash } from '../growth/story.ts'
import { use } from '../use.ts'

export interface Succession extends AsyncDisposable {
  /** The process that is alive now. */
  readonly running: TestApp
  /** Starts the next one. */
  start(overrides?: Overrides): Promise<TestApp>
  /** Kills the living one and starts the next. */
  die(overrides?: Overrides): Promise<TestApp>
}

const begin = async (options: AppOptions): Promise<Succession> => {
  await using stack = new AsyncDisposableStack()
  const { options: database } = stack.use(await freshDb())
  const open = async (overrides: Overrides = {}) => {
    const all = { ...options.overrides, ...overrides }
    return await testApp({ ...options, database, overrides: all })
  }
  let running = stack.use(await open())
  const owned = stack.move()
  const start = async (overrides?: Overrides) => {
    running = owned.use(await open(overrides))
    return running
  }
  return {
    get running() {
      return running
    },
    start,
    async die(overrides) {
      await crash(running)
      return await start(overrides)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** For all tests of the file or `describe`. */
export const useSuccession = (options: AppOptions): Succession => use(() => begin(options))
