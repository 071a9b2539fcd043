/** What a backup says about the database that it is of. */
import type { ConnectionOptions } from '../engine/db.ts'
import { versionOf } from '../engine/migrations.ts'
import { asOwner } from '../engine/owner.ts'

export interface DeploymentFacts {
  /** The id that the first start gave the deployment. */
  deployment: string
  /** The number of the last migration. */
  version: string
  migrations: { name: string; hash: string }[]
  /** The major version of Postgres. */
  postgres: number
}

/** Undefined if no server has used the database yet. */
export const deploymentFacts = (options: ConnectionOptions): Promise<DeploymentFacts | undefined> =>
  asOwner(options, async (sql) => {
    const [found] = await sql<{ made: boolean; postgres: number }[]>`
      select to_regclass('deployment') is not null and to_regclass('migration') is not null as made,
        current_setting('server_version_num')::int / 10000 as postgres`
    if (!found!.made) return undefined
    const [row] = await sql<{ id: string }[]>`select id from deployment`
    if (!row) return undefined
    const migrations = await sql<{ name: string; hash: string }[]>`
      select name, hash from migration order by name`
    return {
      deployment: row.id,
      version: versionOf(migrations.map(({ name }) => name)),
      migrations: [...migrations],
      postgres: found!.postgres,
    }
  })
