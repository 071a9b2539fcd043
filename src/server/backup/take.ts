/** Makes one backup, of the kind that fits the database. */
import { takeLogical } from './logical.ts'
import type { BackupOrder, BackupPlace, TakenBackup } from './order.ts'
import { takePhysical } from './physical.ts'

/** The files of a database of DATABASE_URL are out of reach. */
export const takeBackup = (
  place: BackupPlace,
  order: BackupOrder,
  { logical }: { logical: boolean },
): Promise<TakenBackup> =>
  logical || place.config.databaseUrl ? takeLogical(place, order) : takePhysical(place, order)
