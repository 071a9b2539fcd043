/**
 * A whole Tendril in this process: a database of its own, the real HTTP stack on a free port, a
 * workspace and its key.
 */

import postgres from 'postgres'
import { readConfig } from '#config/config'
import { createLog, type Log } from '#kernel/log'
import type { Scope } from '#kernel/scopes'
import { secretKeyOf } from '#kernel/secret'
import { type SecretKeys, soleKey } from '#kernel/secret-keys'
import {
  connectAccount,
  createKey,
  createWorkspace,
  inviteByOperator,
  usualScopes,
} from '#ops/operator/admin/workspaces'
import type { Thinker } from '#port/model/thinker'
import type { PasswordCost } from '#port/passwords'
import { listen } from '#server/listen'
import type { Overrides, Recurring } from '#server/opening'
import { openWorkplace, type Workplace } from '#server/workplace'
import { checkCanary } from '#store/engine/canary'
import type { ConnectionOptions, Logins } from '#store/engine/db'
import { withLogins } from '#store/engine/logins'
import { freshDb, openOn, TEST_SECRET, warmDb } from './database/db.ts'
import { eventually } from './eventually.ts'

export { eventually } from './eventually.ts'

export interface Reply<B = Record<string, never>> {
  status: number
  headers: Headers
  /** The raw bytes, to compare replays. */
  text: string
  body: B & {
    error?: {
      code: string
      message: string
      request_id: string
      details?: { path: string; message: string }[]
    }
  }
}

export interface Send {
  body?: unknown
  headers?: Record<string, string>
  /** Null sends no key. */
  key?: string | null
}

export interface TestApp extends AsyncDisposable {
  url: string
  tenantId: string
  key: string
  workplace: Workplace
  options: ConnectionOptions
  /** The database with its owner's rights, past every policy, to look at and arrange state. */
  owner: postgres.Sql
  /**
   * `send('POST', '/api/v1/growth/batches', { body })`; a path without a leading slash is below
   * /api/v1/growth/.
   */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  send(method: string, path: string, options?: Send): Promise<Reply<any>>
  newKey(scopes: Scope[], tenantId?: string): Promise<{ id: string; api_key: string }>
  /**
   * Another workspace with a sandbox account and its own key, which has the usual scopes by
   * default.
   */
  newWorkspace(scopes?: Scope[]): Promise<{ tenantId: string; key: string }>
}

export interface AppOptions {
  overrides?: Overrides
  /** Answers as a model that is set. Without it, the desk answers what comes over HTTP. */
  model?: Thinker
  env?: Record<string, string>
  /** An existing database, for a second server on it. */
  database?: ConnectionOptions
  /** On a database that no other test has used: plans depend on what rows have left behind. */
  newDatabase?: boolean
  /** Default: a silent one. */
  log?: Log
  /** Default: the key of all tests. */
  keys?: SecretKeys
}

/**
 * The cheapest setting that argon2id accepts. Hashes at the usual cost would take more time than
 * everything else in a sign-in.
 */
const CHEAP: PasswordCost = { memoryCost: 8, timeCost: 1 }

/** Many tests share one Postgres, which accepts only a few dozen connections. */
const FEW_CONNECTIONS = 4

/** So that a model counts as set. Nothing is asked there. */
const MODEL_SET = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' }

const quiet = createLog(process.env.TEST_LOG ?? 'silent')

/** Sends requests to a server, by default with `ownKey`. */
export const client =
  (url: string, ownKey: string) =>
  async (
    method: string,
    path: string,
    { body, headers = {}, key = ownKey }: Send = {},
  ): Promise<Reply> => {
    const sent: Record<string, string> = { ...headers }
    if (key !== null) sent.authorization = `Bearer ${key}`
    if (body !== undefined && !sent['content-type']) sent['content-type'] = 'application/json'
    const response = await fetch(
      path.startsWith('/') ? `${url}${path}` : `${url}/api/v1/growth/${path}`,
      {
        method,
        headers: sent,
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      },
    )
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text ? JSON.parse(text) : {},
    }
  }

const workspace = async (workplace: Workplace, scopes = usualScopes) => {
  const tenantId = await createWorkspace(workplace.db, 'Test')
  const account = await workplace.sandbox.connect(tenantId, `t-${tenantId}`)
  // A process that a busy machine has held up for seconds serves again once it has renewed its
  // lease.
  await eventually(
    () => workplace.runtime.serving,
    (is) => is,
  )
  await connectAccount(workplace.world, tenantId, { network: 'sandbox', ...account })
  // As the operator creates it: it has no members yet, and an owner is invited.
  await inviteByOperator(
    { db: workplace.db, publicUrl: 'http://localhost' },
    { tenantId, role: 'owner' },
  )
  const { api_key } = await createKey(workplace.db, { tenantId, scopes, name: 'test' })
  return { tenantId, key: api_key }
}

const loginsOf = new Map<string, Promise<Logins | undefined>>()

/**
 * Prepares the database as a server does: marks it with the secret and makes logins for the pools.
 * Once is enough, because names of databases never recur.
 */
const known = async (options: ConnectionOptions): Promise<ConnectionOptions> => {
  if (options.logins) return options
  const address = `${options.host}:${options.port}/${options.database}`
  const logins = await loginsOf.getOrInsertComputed(address, async () => {
    await checkCanary(options, [secretKeyOf(TEST_SECRET)])
    return (await withLogins(options, secretKeyOf(TEST_SECRET), quiet)).logins
  })
  return { ...options, ...(logins && { logins }) }
}

/**
 * The recurring work that a test's overrides are about. To plan it, the database spends a tenth of
 * what a new server costs.
 */
const recurringBy = ({ erasure, removalMs, sweep }: Overrides): Recurring[] => [
  ...(erasure ? (['erasure'] as const) : []),
  ...(removalMs === undefined ? [] : (['removal'] as const)),
  ...(sweep ? (['sweep'] as const) : []),
]

export async function testApp({
  overrides = {},
  env = {},
  model,
  database,
  newDatabase = false,
  log = quiet,
  keys = soleKey(TEST_SECRET),
}: AppOptions = {}): Promise<TestApp> {
  await using stack = new AsyncDisposableStack()
  const options = await known(
    database ?? stack.use(await (newDatabase ? freshDb : warmDb)()).options,
  )
  const usual = { PORT: '0', LOG_LEVEL: 'silent', RATE_LIMITS: 'off', CONSOLE: 'off' }
  const config = readConfig({ ...usual, ...(model && MODEL_SET), ...env })
  const thinking = model && { thinker: model }
  const deployment = {
    log,
    keys,
    overrides: {
      passwordCost: CHEAP,
      lastRequestsMs: 0,
      recurring: recurringBy(overrides),
      ...thinking,
      ...overrides,
    },
  }
  stack.use(openOn(options))
  const workplace = stack.use(
    await openWorkplace(config, { max: FEW_CONNECTIONS, ...options }, deployment),
  )
  const { port } = stack.use(await listen(config, workplace, log))
  const owner = postgres({ ...options, max: 2, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
  const { tenantId, key } = await workspace(workplace)
  const url = `http://127.0.0.1:${port}`
  const owned = stack.move()
  return {
    url,
    tenantId,
    key,
    workplace,
    options,
    owner,
    send: client(url, key) as TestApp['send'],
    newKey: (scopes, of = tenantId) =>
      createKey(workplace.db, { tenantId: of, scopes, name: 'test' }),
    newWorkspace: (scopes) => workspace(workplace, scopes),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
