/** What the commands about the secret key share: a connection, and a transaction for each step. */
import type { SecretKeys } from '#kernel/secret-keys'
import type { ConnectionOptions } from '#store/engine/db'
import { asOwner, inTenant } from '#store/engine/owner'
import { type Sql, sqlOf } from '#store/engine/sql'
import { tenantsAfter } from '#store/secret/key-rotation'

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

export const withSteps = <T>(
  { options }: Pick<Rotating, 'options'>,
  settledMs: number,
  body: (steps: Steps) => Promise<T>,
): Promise<T> =>
  asOwner(options, (client) =>
    body({
      settledMs,
      transact: <R>(step: (sql: Sql) => Promise<R>) =>
        client.begin((tx) => step(sqlOf(tx))) as Promise<R>,
    }),
  )

/** One step in a workspace, under its policies. */
export const stepInTenant = <T>(
  { transact }: Steps,
  tenantId: string,
  step: (sql: Sql) => Promise<T>,
): Promise<T> => transact((sql) => inTenant(sql, tenantId, () => step(sql)))

/** All workspaces, page by page. */
export async function* tenantsOf({ transact }: Steps): AsyncGenerator<string> {
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
