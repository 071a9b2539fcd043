/** `tendril admin tenant import`: a new workspace of an archive, which anybody may have edited. */
import {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { AppError, fail } from '#kernel/errors'
import { inviteByOperator, nameOfWorkspace } from '#ops/operator/admin/workspaces'
import { joinDatabase } from '#server/database'
import { importWorkspace, planImport } from '#server/import/import'
import { KindCounts } from '#server/import/kind-counts'
import type { ImportReport } from '#server/import/write'
import { type AdminContext, type Flags, optionalEmail, text } from './flags.ts'

/** Writes a line for each record, and counts them. */
class Told implements ImportReport, Disposable {
  /** Whether there may be a workspace whose report this is. */
  isNeeded = false
  readonly #made = new KindCounts()
  readonly #left = new KindCounts()
  readonly #file: number | undefined

  constructor(
    private readonly err: AdminContext['err'],
    readonly path: string | undefined,
    /** Whether the new ids are those that hold. */
    private readonly withIds: boolean,
  ) {
    this.#file = path === undefined ? undefined : openSync(path, 'wx', 0o600)
  }

  made({ kind, id, new_id }: { kind: string; id: string; new_id: string }): void {
    this.#made.add(kind)
    if (this.withIds) this.#line({ kind, id, new_id })
  }

  left({ kind, id, reason }: { kind: string; id: string; reason: string }): void {
    this.#left.add(kind)
    this.#line({ kind, id, left_out: reason })
  }

  counts(): { made: Record<string, number>; left_out: Record<string, number> } {
    return {
      made: Object.fromEntries(this.#made.all()),
      left_out: Object.fromEntries(this.#left.all()),
    }
  }

  /** Where nothing was made, the file says nothing, and would refuse the next try. */
  discard(): void {
    if (this.#file === undefined || this.path === undefined) return
    const [ours, there] = [fstatSync(this.#file), lstatSync(this.path, { throwIfNoEntry: false })]
    if (there?.ino === ours.ino && there.dev === ours.dev) unlinkSync(this.path)
  }

  #line(line: object): void {
    const written = JSON.stringify(line)
    if (this.#file === undefined) this.err(written)
    else writeSync(this.#file, `${written}\n`)
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file)
  }
}

/** Throws unless a report can be written there. */
const reportFlag = (flags: Flags): string | undefined => {
  if (flags.report === undefined) return undefined
  const path = text(flags, 'report')
  if (existsSync(path)) fail('invalid_input', `${path} exists already: nothing is overwritten`)
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory())
    fail('invalid_input', `${dirname(path)} is not a folder`)
  return path
}

/** The name of the archive is that of whoever has written it. */
const nameFlag = (flags: Flags, given: string): string => {
  if (flags.name !== undefined) return nameOfWorkspace(text(flags, 'name'))
  try {
    return nameOfWorkspace(given)
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    return fail('invalid_input', `in the archive, ${cause.message}: give another by --name`)
  }
}

export const importTenant = async (
  place: AdminContext,
  flags: Flags,
  [from = '']: readonly string[],
): Promise<object> => {
  const [email, isPlan, path] = [optionalEmail(flags), flags['dry-run'] === true, reportFlag(flags)]
  const { config, log } = place
  await using database = await joinDatabase(config, log)
  using report = new Told(place.err, path, !isPlan)
  let sign_in_url: string | undefined
  const imported = await (isPlan ? planImport : importWorkspace)(
    { config, log, options: database.options, keys: database.keys },
    {
      from,
      nameOf: ({ name }) => nameFlag(flags, name),
      newIds: flags['new-ids'] === true,
      report,
      async before(db, tenantId) {
        sign_in_url = await inviteByOperator(
          { db, publicUrl: config.publicUrl },
          { tenantId, role: 'owner', email },
        )
      },
      mayBeThere(is) {
        report.isNeeded = is
      },
    },
  ).catch((cause: unknown) => {
    if (!report.isNeeded) report.discard()
    throw cause
  })
  const { workspaceId, name, sealed, keepsIds } = imported
  return isPlan
    ? { dry_run: true, name, sealed, ...report.counts() }
    : {
        workspace_id: workspaceId,
        name,
        sealed,
        ids: keepsIds ? 'kept' : 'new',
        ...report.counts(),
        sign_in_url,
      }
}
