/**
 * What the tests of a file or a `describe` share: opened before them, and closed after them in
 * reverse order.
 */
import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import { type AppOptions, client, type TestApp, testApp } from './app.ts'

/**
 * Bun runs `afterAll` hooks in the order of their declaration, so this list decides the order of
 * closing instead.
 */
const opened: AsyncDisposable[] = []

const close = async (one: AsyncDisposable): Promise<void> => {
  while (opened.includes(one)) await opened.pop()![Symbol.asyncDispose]()
}

const hooked = <T extends AsyncDisposable>(
  open: () => T | Promise<T>,
  before: typeof beforeAll,
  after: typeof afterAll,
): T => {
  let current: T | undefined
  const target = (): T => {
    if (current) return current
    throw new Error('used outside of a test: it is opened by a hook')
  }
  before(async () => {
    current = await open()
    opened.push(current)
  })
  after(async () => {
    if (current) await close(current)
    current = undefined
  })
  return new Proxy({} as T, {
    get(_, name) {
      const value = Reflect.get(target(), name, target())
      return typeof value === 'function' && !Object.hasOwn(target(), name)
        ? value.bind(target())
        : value
    },
    set: (_, name, value) => Reflect.set(target(), name, value),
    has: (_, name) => Reflect.has(target(), name),
  })
}

/**
 * Opened once for all tests of the file or `describe`. Its fields can be read in hooks and tests,
 * not while tests are declared.
 */
export const use = <T extends AsyncDisposable>(open: () => T | Promise<T>): T =>
  hooked(open, beforeAll, afterAll)

/** The same, but opened anew for each test. */
export const useEach = <T extends AsyncDisposable>(open: () => T | Promise<T>): T =>
  hooked(open, beforeEach, afterEach)

/** The servers of this worker that files share, by their options. */
const shared = new Map<string, Promise<TestApp>>()

const enter = async (options: SharedOptions): Promise<TestApp> => {
  const app = await shared.getOrInsertComputed(JSON.stringify(options), () => testApp(options))
  const { tenantId, key } = await app.newWorkspace()
  return {
    ...app,
    tenantId,
    key,
    send: client(app.url, key) as TestApp['send'],
    newKey: (scopes, of = tenantId) => app.newKey(scopes, of),
    async [Symbol.asyncDispose]() {},
  }
}

/** The only options in which shared servers may differ: nothing that a file holds on to. */
interface SharedOptions {
  overrides?: { lanes: [] }
}

/**
 * A workspace on a server that the files of a worker share, which costs a tenth of a server. For
 * tests that look at and arrange only their own workspaces, and leave the server as it is.
 */
export const useSharedApp = (options: SharedOptions = {}): TestApp => use(() => enter(options))

/**
 * A whole Tendril for all tests of the file or `describe`. Options that depend on something else in
 * use come from a function.
 */
export const useApp = (options: AppOptions | (() => AppOptions) = {}): TestApp =>
  use(() => testApp(typeof options === 'function' ? options() : options))
