import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import type { NetworkAccount } from '#port/network/network'
import { parseFaults } from '#port/network/sandbox/faults'
import { openSandboxStore, type SandboxStore } from '#port/network/sandbox/rows'
import { createSandbox, type Sandbox } from '#port/network/sandbox/sandbox'
import type { SandboxRules } from '#port/network/sandbox/social'
import type { ConnectionOptions } from '#store/engine/db'
import { freshDb } from '#test/support/database/db'

/** A sandbox on a database of its own, from inside and outside. */
export interface SandboxWorld extends AsyncDisposable {
  options: ConnectionOptions
  /** The view from outside: the role that owns the database. */
  admin: postgres.Sql
  store: SandboxStore
  /** Another process's adapter on the same world, with these faults. */
  sandbox(faults?: string, rules?: SandboxRules): Sandbox
  /** An account without posts. */
  newAccount(): Promise<NetworkAccount>
  /** The posts that exist, oldest first. */
  postsOf(account: NetworkAccount): Promise<string[]>
  /** Posts that will exist later. */
  delayed(account: NetworkAccount): Promise<{ text: string; apply_at: Date }[]>
}

/** Where these tests get their database. */
const sandboxDb = freshDb

const sandboxOn = (store: SandboxStore, faults = '', rules: SandboxRules = 'open'): Sandbox =>
  createSandbox({ store, faults: parseFaults(faults), rules, log: createLog('silent') })

export const openSandboxWorld = async (): Promise<SandboxWorld> => {
  await using starting = new AsyncDisposableStack()
  const { options } = starting.use(await sandboxDb())
  const admin = postgres({ ...options, max: 2, onnotice: () => {} })
  starting.defer(() => admin.end({ timeout: 5 }))
  const store = starting.use(openSandboxStore(options))
  const running = starting.move()
  return {
    options,
    admin,
    store,
    sandbox: (faults, rules) => sandboxOn(store, faults, rules),
    newAccount: () => accountOn(store),
    async postsOf({ externalId }) {
      const rows = await admin<
        { text: string }[]
      >`select text from sandbox.posts where account_id = ${externalId} order by id`
      return rows.map(({ text }) => text)
    },
    delayed: ({ externalId }) =>
      admin`select text, apply_at from sandbox.delayed where account_id = ${externalId}`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Connects a handle that nobody else uses. */
const accountOn = async (store: SandboxStore): Promise<NetworkAccount> => {
  const handle = `user_${newId()}`
  const { externalId } = await sandboxOn(store).connect(newId(), handle)
  return { id: newId(), externalId, handle }
}

export const never = (): AbortSignal => new AbortController().signal

interface Publication {
  text?: string
  deadlineMs?: number
  signal?: AbortSignal
}

export const publish = (
  sandbox: Sandbox,
  account: NetworkAccount,
  { text = 'Hello.', deadlineMs = 10_000, signal = never() }: Publication = {},
) =>
  sandbox.publish(
    { account, text, attemptId: newId(), key: null, madeAt: new Date(), deadlineMs },
    signal,
  )

/** Polls until the condition holds; the test's own time limit applies. */
export const eventually = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await Bun.sleep(10)
}
