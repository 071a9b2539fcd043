/** Secrets of the whole deployment, sealed. All its processes use the same. */
import type { SealedRow, Sealer } from '#kernel/sealer'
import type { Db } from '../engine/db.ts'

type Name = 'bluesky client'

export const deploymentSecretRow = (name: string): SealedRow => `deployment_secret/${name}`

const storedSecret = async (db: Db, name: Name): Promise<Buffer | undefined> =>
  (
    await db.system(
      async (sql) =>
        await sql<{ sealed: Buffer }>`select sealed from deployment_secret where name = ${name}`,
    )
  )[0]?.sealed

/** The secret of this name. If there is none, `make` makes it; of two at once, the first counts. */
export const deploymentSecret = async (
  { db, sealer }: { db: Db; sealer: Sealer },
  name: Name,
  make: () => Promise<string>,
): Promise<string> => {
  const row = deploymentSecretRow(name)
  const before = await storedSecret(db, name)
  if (before) return sealer.open(before, row)
  const sealed = sealer.seal(await make(), row)
  await db.system(
    (sql) => sql`insert into deployment_secret (name, sealed) values (${name}, ${sealed})
      on conflict do nothing`,
  )
  return sealer.open((await storedSecret(db, name))!, row)
}
