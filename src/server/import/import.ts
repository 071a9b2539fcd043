/**
 * Makes a new workspace from the archive of one, which anybody may have edited. Nothing is sent,
 * and nothing that was decided elsewhere counts here. Either all of it is made, or nothing.
 */
import type { Config } from '#config/config'
import { defaultPlan } from '#domain/app/plan'
import { AppError, fail } from '#kernel/errors'
import { failpointsFrom } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import type { Log } from '#kernel/log'
import { plainText } from '#kernel/plain-text'
import type { SecretKeys } from '#kernel/secret-keys'
import type { Files, NewFile } from '#port/files/files'
import {
  abandonImport,
  areChannelsFree,
  beginImport,
  finishImport,
  IMPORT_LEASE_MS,
  type ImportSession,
  isImported,
  isRefusedRow,
  isTaken,
  openImport,
  renewImport,
} from '#store/app/import'
import { hasTenant } from '#store/app/tenants'
import { planOfWorkspace } from '#store/app/workspace'
import { type ConnectionOptions, type Db, openDb, type Query } from '#store/engine/db'
import { filesOf } from '../files.ts'
import { type Looked, lookInto } from './look.ts'
import { type ReadArchive, readArchive } from './read.ts'
import { type ImportReport, type ImportSink, ImportWriting } from './write.ts'

export interface ImportPlace {
  config: Config
  options: ConnectionOptions
  keys: SecretKeys
  log: Log
}

export interface ImportOrder {
  from: string
  /** By default that of the archive. Throws `invalid_input` if it is no name. */
  nameOf(head: ReadArchive['head']): string
  /** All ids are new, even if those of the archive are free. */
  newIds: boolean
  report: ImportReport
  /** Called before the workspace is there for others: what is to be there from the start. */
  before(db: Db, workspaceId: string): Promise<void>
  /** Told true before the workspace may be there for others, and false if it has not come to be. */
  mayBeThere(is: boolean): void
}

export interface Imported {
  /** Undefined if nothing was made. */
  workspaceId: string | undefined
  name: string
  sealed: boolean
  keepsIds: boolean
}

/** A workspace that is being made. */
class Making implements ImportSink, AsyncDisposable {
  readonly session: ImportSession
  /** The transaction that finishes it may have been sent. */
  ends = false
  readonly #renewing: NodeJS.Timeout

  constructor(
    private readonly db: Db,
    readonly id: string,
    private readonly files: Pick<Files, 'put'>,
    { options }: ImportPlace,
  ) {
    this.session = openImport(options, id)
    // Where it fails, the next transaction says so.
    this.#renewing = setInterval(() => {
      renewImport(db, id).catch(() => {})
    }, IMPORT_LEASE_MS / 8)
  }

  async rows(queries: readonly Query[]): Promise<unknown[][]> {
    return await this.session.transaction(async (sql) => {
      const answers: unknown[][] = []
      for (const query of queries) answers.push(await query(sql))
      return answers
    })
  }

  file(bytes: AsyncIterable<Uint8Array>): Promise<NewFile> {
    return this.files.put(this.id, bytes)
  }

  async keep(file: NewFile): Promise<void> {
    const counters = await countersOf(this.db, this.id)
    await this.session.transaction(async (sql) => {
      for (const query of await file.keep(sql, { counters })) await query(sql)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#renewing)
    await this.session[Symbol.asyncDispose]()
  }
}

const countersOf = async (db: Db, tenantId: string): Promise<Record<string, number>> =>
  (await db.read({ tenantId }, planOfWorkspace))[0]?.counters ?? {}

/** Whose rows are written, while files are. */
interface Current {
  making?: Making
}

const openFiles = ({ config, log }: ImportPlace, db: Db, current: Current) =>
  filesOf(config, {
    log,
    failpoints: failpointsFrom(config.failpoints),
    note: async (tenantId, decide) => {
      const counters = await countersOf(db, tenantId)
      await current.making!.session.transaction(async (sql) => {
        for (const query of decide({ counters })) await query(sql)
      })
    },
  })

/** The archive is read again: twice more, since some records name others that come after them. */
const writeAll = async (
  { from, report }: Pick<ImportOrder, 'from' | 'report'>,
  keys: SecretKeys,
  looked: Looked,
  sink: ImportSink | undefined,
): Promise<void> => {
  const files = new Map<string, string>()
  for (const late of [false, true]) {
    const writing = new ImportWriting(looked, { late, files, sink, report })
    const { digest } = await readArchive(from, keys, writing)
    if (digest !== looked.read.digest)
      fail('conflict', 'the archive has been changed meanwhile', { reason: 'wrong_state' })
    await writing.flush()
  }
}

const inWords = (cause: unknown): unknown => {
  if (isTaken(cause))
    return new AppError(
      'conflict',
      'somebody else has just taken ids of the archive: nothing was imported; try again',
      { cause, reason: 'wrong_state' },
    )
  return isRefusedRow(cause)
    ? new AppError(
        'invalid_input',
        `the database refuses a record of the archive, so nothing was imported: ${(cause as Error).message}`,
        { cause },
      )
    : cause
}

/** Ids hold on if this deployment has given them and nobody has them any more. */
const mayKeepIds = async (
  db: Db,
  making: Making,
  { read: { sealed, head }, channels }: Looked,
): Promise<boolean> =>
  sealed &&
  channels.length > 0 &&
  !(await hasTenant(db, head.workspace_id)) &&
  (await areChannelsFree(making.session, channels))

const detailOf = (
  { head, sealed }: ReadArchive,
  keepsIds: boolean,
): Record<string, string | boolean> => ({
  workspace_id: head.workspace_id,
  name: plainText(head.name).slice(0, 160),
  exported_at: String(head.began_at),
  sealed,
  ids: keepsIds ? 'kept' : 'new',
})

const make = async (
  { place, db, making }: { place: ImportPlace; db: Db; making: Making },
  order: ImportOrder,
  looked: Looked,
): Promise<void> => {
  const keepsIds = !order.newIds && (await mayKeepIds(db, making, looked))
  looked.arrival.ids.keep(keepsIds)
  await writeAll(order, place.keys, looked, making)
  await failpointsFrom(place.config.failpoints)('import.ends')
  await order.before(db, making.id)
  await renewImport(db, making.id)
  making.ends = true
  order.mayBeThere(true)
  await finishImport(db, { id: making.id, detail: detailOf(looked.read, keepsIds) })
}

const unknownEnd = (id: string, cause: unknown): AppError =>
  new AppError(
    'unavailable',
    `the database did not answer, so the workspace ${id} may be there or not: \`tendril admin tenant get --workspace ${id}\` tells`,
    { cause },
  )

/** A database that has lost its connections may be back within seconds. */
const LOOKS = 4
const LOOK_EVERY_MS = 500

/** Whether the workspace has come to be. Throws where the database does not say. */
const lookAfterwards = async (db: Db, id: string, cause: unknown): Promise<boolean> => {
  for (let look = 1; ; look++)
    try {
      return await isImported(db, id)
    } catch {
      if (look === LOOKS) throw unknownEnd(id, cause)
      await Bun.sleep(LOOK_EVERY_MS)
    }
}

/** Throws unless the workspace is there: only the answer was lost. */
const afterFailure = async (
  { place, db, making: { id, ends } }: { place: ImportPlace; db: Db; making: Making },
  order: ImportOrder,
  cause: unknown,
): Promise<void> => {
  if (ends) {
    if (await lookAfterwards(db, id, cause)) return
    order.mayBeThere(false)
  }
  await abandonImport(db, id).catch((err: unknown) =>
    place.log.warn({ err, workspace: id }, 'what was imported is removed later'),
  )
  throw inWords(cause)
}

/** Tells what an import would make and leave out, and writes nothing. */
export const planImport = async (place: ImportPlace, order: ImportOrder): Promise<Imported> => {
  await using db = openDb({ ...place.options, max: 1 })
  using opened = await openFiles(place, db, {})
  const looked = await lookInto(order.from, place.keys, opened.files)
  const name = order.nameOf(looked.read.head)
  await writeAll(order, place.keys, looked, undefined)
  return { workspaceId: undefined, name, sealed: looked.read.sealed, keepsIds: false }
}

export const importWorkspace = async (
  place: ImportPlace,
  order: ImportOrder,
): Promise<Imported> => {
  await using db = openDb({ ...place.options, max: 2 })
  const current: Current = {}
  using opened = await openFiles(place, db, current)
  const looked = await lookInto(order.from, place.keys, opened.files)
  const name = order.nameOf(looked.read.head)
  const id = newId()
  await beginImport(db, { id, name, plan: defaultPlan })
  await using making = new Making(db, id, opened.files, place)
  current.making = making
  const at = { place, db, making }
  await make(at, order, looked).catch((cause: unknown) => afterFailure(at, order, cause))
  const { read, arrival } = looked
  return { workspaceId: id, name, sealed: read.sealed, keepsIds: arrival.ids.isKeeping }
}
