/** What the commands about the secret key share: a connection, and a transaction for each step. */
import { AppError } from '#kernel/errors'
import type { SecretKeys } from '#kernel/secret-keys'
import { type ConnectionOptions, codeOf } from '#store/engine/db'
import { asOwner, inRole, inTenant } from '#store/engine/owner'
import { type Sql, sqlOf } from '#store/engine/sql'
import { type KeyChange, requireLastChange, tenantsAfter } from '#store/secret/key-rotation'
import { DEPLOYMENT } from '#store/secret/sealed-values'

/** A database that a command has opened. */
export interface Rotating {
  options: ConnectionOptions
  keys: SecretKeys
}

/**
 * How long what a server had begun under its last key may take to be stored: longer than any
 * transaction of a letter.
 */
export const SETTLED_MS = 15_000

const TENANTS_AT_ONCE = 200

export interface Steps {
  settledMs: number
  transact<T>(step: (sql: Sql) => Promise<T>): Promise<T>
}

/** A lock was not to be had, or a statement took too long while it kept others waiting. */
const BUSY = ['55P03', '57014']

const asBusy = (cause: unknown): never => {
  if (!BUSY.includes(codeOf(cause))) throw cause
  throw new AppError('unavailable', 'the database is too busy for this now: run it again', {
    cause,
  })
}

export const withSteps = <T>(
  { options }: Pick<Rotating, 'options'>,
  settledMs: number,
  body: (steps: Steps) => Promise<T>,
): Promise<T> =>
  asOwner(options, (client) =>
    body({
      settledMs,
      transact: <R>(step: (sql: Sql) => Promise<R>) =>
        client.begin((tx) => step(sqlOf(tx))).catch(asBusy) as Promise<R>,
    }),
  )

const inPlace = <T>(sql: Sql, place: string, step: (sql: Sql) => Promise<T>): Promise<T> =>
  place === DEPLOYMENT
    ? inRole(sql, 'tendril_system', () => step(sql))
    : inTenant(sql, place, () => step(sql))

/** One step in a workspace, under its policies, or in what belongs to the deployment. */
export const stepIn = <T>(
  { transact }: Steps,
  place: string,
  step: (sql: Sql) => Promise<T>,
): Promise<T> => transact((sql) => inPlace(sql, place, step))

/** The same, unless the key has changed again. Keeps a further change waiting. */
export const stepInChange = <T>(
  { transact }: Steps,
  { change, place }: { change: KeyChange; place: string },
  step: (sql: Sql) => Promise<T>,
): Promise<T> =>
  transact(async (sql) => {
    await requireLastChange(sql, change)
    return await inPlace(sql, place, step)
  })

/** Where values are sealed: the deployment and all workspaces, page by page. */
export async function* sealedPlaces({ transact }: Steps): AsyncGenerator<string> {
  yield DEPLOYMENT
  let after: string | null = null
  let isMore = true
  while (isMore) {
    const from: string | null = after
    const page: string[] = await transact((sql) => tenantsAfter(sql, from, TENANTS_AT_ONCE))
    yield* page
    isMore = page.length === TENANTS_AT_ONCE
    after = page.at(-1) ?? null
  }
}
