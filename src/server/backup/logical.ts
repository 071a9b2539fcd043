/** Backs up any database by its rows. */
import { fail } from '#kernel/errors'
import { deploymentFacts } from '#store/backup/deployment-facts'
import { type DatabaseSnapshot, openSnapshot } from '#store/backup/snapshot'
import type { BackupTable } from '#store/backup/tables'
import type { ConnectionOptions } from '#store/engine/db'
import { connectionOptionsOf } from '../database-url.ts'
import { homeOf } from '../home.ts'
import { keysForBackup } from '../secret-key.ts'
import { COUNTS, rowsIn, rowsPart, TABLES_LIST, type TableCounts } from './contents.ts'
import { checkDestination } from './destination.ts'
import { type BackupOrder, type BackupPlace, EMPTY, RUNNING, type TakenBackup } from './order.ts'
import { checkHome, type HomeDisk, openHome } from './physical.ts'
import { requireRoom } from './room.ts'
import { writeStoredList } from './stored-list.ts'
import { unlessStopped } from './watch.ts'
import { writeBackup } from './write.ts'
import type { Writing } from './writing.ts'

/** The size of a part must be known before it is written, so this much is kept in memory. */
const PART_BYTES = 4 * 2 ** 20

async function* inParts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let [waiting, length]: [Uint8Array[], number] = [[], 0]
  for await (const chunk of bytes) {
    waiting.push(chunk)
    length += chunk.length
    if (length < PART_BYTES) continue
    yield Buffer.concat(waiting)
    ;[waiting, length] = [[], 0]
  }
  if (length > 0) yield Buffer.concat(waiting)
}

const copyTable = async (
  writing: Writing,
  snapshot: DatabaseSnapshot,
  table: BackupTable,
): Promise<number> => {
  let [part, rows] = [0, 0]
  for await (const bytes of inParts(writing.read(await snapshot.rows(table)))) {
    rows += rowsIn(bytes)
    await writing.putRead(rowsPart(table.name, part++), bytes)
  }
  const counted = await snapshot.count(table)
  if (rows !== counted)
    throw new Error(`${table.name} has ${counted} rows, but the backup got ${rows} of them`)
  return rows
}

const copyTables = async (writing: Writing, snapshot: DatabaseSnapshot): Promise<Date> => {
  await writing.text(TABLES_LIST, JSON.stringify(snapshot.tables))
  const rows: TableCounts['rows'] = {}
  for (const table of snapshot.tables) rows[table.name] = await copyTable(writing, snapshot, table)
  const counts: TableCounts = { rows, sequences: await snapshot.sequences() }
  await writeStoredList(writing, snapshot.storedFiles())
  await writing.text(COUNTS, JSON.stringify(counts))
  return snapshot.at
}

interface Source extends AsyncDisposable {
  target: ConnectionOptions
  /** Undefined if the database is not of this home: its disk is out of sight. */
  disk: HomeDisk | undefined
}

const openSource = async ({ config, log }: BackupPlace, order: BackupOrder): Promise<Source> => {
  const url = config.backupDatabaseUrl ?? config.databaseUrl
  if (url)
    return {
      target: connectionOptionsOf(url),
      disk: undefined,
      [Symbol.asyncDispose]: async () => {},
    }
  const home = homeOf(config)
  const disk = checkHome(home, order)
  const opened = await openHome(home, log)
  return { ...opened, disk, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}

/** Copies the rows of all tables as they were at one moment. */
export const takeLogical = async (place: BackupPlace, order: BackupOrder): Promise<TakenBackup> => {
  const { config } = place
  checkDestination(order.to, config.home)
  const { signal } = order
  await using source = await unlessStopped(signal, () => openSource(place, order))
  const { target, disk } = source
  const facts =
    (await unlessStopped(signal, () => deploymentFacts(target))) ?? fail('not_found', EMPTY)
  await using snapshot =
    (await unlessStopped(signal, () => openSnapshot(target))) ?? fail('unavailable', RUNNING)
  const keys = await unlessStopped(signal, () => keysForBackup(config, snapshot.keys))
  if (typeof order.to === 'string')
    requireRoom(order.to, snapshot.bytes, disk ?? { data: undefined, least: 0 })
  return await writeBackup(config, order, {
    kind: 'logical',
    facts,
    keys,
    room: snapshot.bytes,
    // A snapshot keeps no write-ahead log, but the disk must not fill up beside it.
    database: disk && { data: disk.data, heldBytes: async () => 0 },
    copy: (writing) => copyTables(writing, snapshot),
  })
}
