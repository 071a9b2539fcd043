/** Backs up the embedded database by its files. */
import { realpathSync } from 'node:fs'
import { fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { SecretKey } from '#kernel/secret'
import { databasePassword, dataOf } from '#postgres/cluster'
import { hasCluster } from '#postgres/data-owner'
import { type DatabaseAddress, findEmbedded, startEmbedded } from '#postgres/start'
import { deploymentFacts } from '#store/backup/deployment-facts'
import { beginOnlineBackup, type OnlineBackup } from '#store/backup/online'
import { requireFittingSecret } from '#store/engine/canary'
import { homeOf } from '../home.ts'
import { keysForBackup } from '../secret-key.ts'
import { copyDatabase, sizeOfData } from './data-copy.ts'
import { checkDestination } from './destination.ts'
import {
  type BackupOrder,
  type BackupPlace,
  EMPTY,
  RUNNING,
  type TakenBackup,
  USUAL_LIMITS,
} from './order.ts'
import { requireFreeDisk, requireRoom } from './room.ts'
import { unlessStopped } from './watch.ts'
import { writeBackup } from './write.ts'

/** The running server's database, or one that runs as long as the backup. */
export const openHome = async (
  home: string,
  log: Log,
): Promise<AsyncDisposable & { target: DatabaseAddress }> => {
  const target = await findEmbedded(home)
  return target
    ? { target, [Symbol.asyncDispose]: async () => {} }
    : await startEmbedded({ home, log })
}

const begin = async (target: DatabaseAddress, signal?: AbortSignal): Promise<OnlineBackup> =>
  (await beginOnlineBackup(target, signal)) ?? fail('unavailable', RUNNING)

/** The data folder of a home, and the share of its disk that must stay free. */
export interface HomeDisk {
  data: string
  least: number
}

/** Throws if the home has no database, or its disk is nearly full. */
export const checkHome = (home: string, { limits }: Pick<BackupOrder, 'limits'>): HomeDisk => {
  if (!hasCluster(home)) fail('not_found', `${home} has no database: ${EMPTY}`)
  const data = dataOf(realpathSync(home))
  const { leastFree: least } = { ...USUAL_LIMITS, ...limits }
  requireFreeDisk(data, least)
  return { data, least }
}

/** Throws if there is no database, or no place for a copy of it. */
const checkPlaces = async (
  home: string,
  order: BackupOrder,
): Promise<{ data: string; room: number }> => {
  checkDestination(order.to, home)
  const disk = checkHome(home, order)
  const room = await sizeOfData(disk.data)
  if (typeof order.to === 'string') requireRoom(order.to, room, disk)
  return { data: disk.data, room }
}

/** Copies the files of the embedded database, beside a running server or without one. */
export const takePhysical = async (
  { config, log }: BackupPlace,
  order: BackupOrder,
): Promise<TakenBackup> => {
  const home = homeOf(config)
  const { data, room } = await checkPlaces(home, order)
  const { signal } = order
  await using database = await unlessStopped(signal, () => openHome(home, log))
  const { target } = database
  const facts =
    (await unlessStopped(signal, () => deploymentFacts(target))) ?? fail('not_found', EMPTY)
  const password = databasePassword(home) ?? fail('not_found', EMPTY)
  await using backup = await unlessStopped(signal, () => begin(target, signal))
  const fit = (known: readonly SecretKey[]) => requireFittingSecret(target, known)
  const keys = await unlessStopped(signal, () => keysForBackup(config, fit))
  return await writeBackup(config, order, {
    kind: 'physical',
    facts,
    keys,
    room,
    database: { data, heldBytes: () => backup.heldBytes() },
    copy: (writing) => copyDatabase(writing, backup, { data, password }),
  })
}
