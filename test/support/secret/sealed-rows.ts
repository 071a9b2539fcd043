/** A value of every kind that is sealed in rows. */
import type postgres from 'postgres'
import { createSealer } from '#kernel/sealer'
import type { SecretKey } from '#kernel/secret'
import { soleKey } from '#kernel/secret-keys'
import {
  nameOf,
  ownSealedValues,
  type SealedColumn,
  sealedValues,
} from '#store/secret/sealed-values'
import { writeRows } from '../database/rows.ts'

interface Place {
  root: postgres.Sql
  tenantId: string
}

const keysIn = async ({ root, tenantId }: Place, { table, key }: SealedColumn): Promise<string[]> =>
  (
    await root<{ key: string }[]>`select ${root(key.column)}::text as key from ${root(table)}
      where tenant_id = ${tenantId}`
  ).map((row) => row.key)

/** As a value was sealed before it named its key. */
const unnamed = (sealed: Buffer): Buffer => Buffer.concat([Buffer.of(1), sealed.subarray(9)])

const [OWN] = ownSealedValues

/** What the deployment itself has sealed. */
export const fillOwn = async (root: postgres.Sql, key: SecretKey): Promise<void> => {
  const sealed = createSealer(soleKey(key.bytes)).seal(nameOf(OWN!), OWN!.row('one', ''))
  await root`insert into deployment_secret (name, sealed) values ('one', ${sealed})`
}

export const isOwnReadable = async (root: postgres.Sql, key: SecretKey): Promise<boolean> => {
  const [row] = await root<{ sealed: Buffer }[]>`select sealed from deployment_secret`
  try {
    const text = createSealer(soleKey(key.bytes)).open(row!.sealed, OWN!.row('one', ''))
    return text === nameOf(OWN!)
  } catch {
    return false
  }
}

/** Rows of each table, in which each sealed column has its name sealed. Half are of an old form. */
export const fillSealed = async (place: Place, key: SecretKey): Promise<void> => {
  const { root, tenantId } = place
  const sealer = createSealer(soleKey(key.bytes))
  await writeRows(root, tenantId)
  await root`update webhook_endpoint set previous_until = now(), previous_secret = secret
    where tenant_id = ${tenantId}`
  for (const [at, one] of sealedValues.entries())
    for (const id of await keysIn(place, one)) {
      const sealed = sealer.seal(nameOf(one), one.row(id, tenantId))
      const bytes = at % 2 === 0 ? sealed : unnamed(sealed)
      const value = one.form === 'bytes' ? bytes : bytes.toString('base64')
      await root`update ${root(one.table)} set ${root(one.column)} = ${value}
        where tenant_id = ${tenantId} and ${root(one.key.column)}::text = ${id}`
    }
}

/** The columns whose values do not open under this key alone, with what is wrong. */
export const unreadable = async (place: Place, key: SecretKey): Promise<string[]> => {
  const { root, tenantId } = place
  const sealer = createSealer(soleKey(key.bytes))
  const wrong: string[] = []
  for (const one of sealedValues) {
    const rows = await root<{ key: string; value: Buffer | string | null }[]>`
      select ${root(one.key.column)}::text as key, ${root(one.column)} as value
        from ${root(one.table)} where tenant_id = ${tenantId}`
    if (rows.length === 0) wrong.push(`${nameOf(one)}: no rows`)
    for (const { key: id, value } of rows) {
      const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : value
      try {
        const text = sealer.open(bytes!, one.row(id, tenantId))
        if (text !== nameOf(one)) wrong.push(`${nameOf(one)}: ${text}`)
      } catch (cause) {
        wrong.push(`${nameOf(one)}: ${cause}`)
      }
    }
  }
  return wrong
}
