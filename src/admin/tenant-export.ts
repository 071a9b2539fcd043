/** `tendril admin tenant export`: a workspace as an archive. */
import { AppError } from '#kernel/errors'
import { asRefusal, checkDestination, shelfFor } from '#server/backup/destination'
import { TenantArchive } from '#server/tenant-archive'
import { neededVersion } from '#store/engine/migrate'
import { version } from '../../package.json'
import { asOperator, type Downloads } from './as-operator.ts'
import { type AdminContext, type Flags, uuid } from './flags.ts'
import { withDb } from './place.ts'
import { stateOf } from './tenant-look.ts'

interface ArtifactLine {
  id: string
  deleted_at: string | null
}

const ARTIFACT = '{"kind":"artifact",'

/** The artifacts among these lines whose bytes are still there. */
const artifactsIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith(ARTIFACT))
    .map((line) => (JSON.parse(line) as { record: ArtifactLine }).record)
    .flatMap(({ id, deleted_at }) => (deleted_at === null ? id : []))

/** Returns the artifacts that the export names. */
const writeLines = async (
  archive: TenantArchive,
  { lines: open }: Downloads,
): Promise<string[]> => {
  const lines = await open('app.workspace.export')
  const artifacts: string[] = []
  try {
    for (let text = await lines.next(); text !== undefined; text = await lines.next()) {
      artifacts.push(...artifactsIn(text))
      await archive.lines(text)
    }
  } finally {
    await lines.end()
  }
  await archive.endLines()
  return artifacts
}

/** An artifact may be deleted while the export is written. */
const writeFile = async (
  archive: TenantArchive,
  { file }: Downloads,
  id: string,
): Promise<void> => {
  const found = await file('agent.artifacts.download', { id }).catch((cause) => {
    if (cause instanceof AppError && cause.code === 'not_found') return undefined
    throw cause
  })
  if (!found) return archive.missing(id)
  const { signal } = new AbortController()
  await archive.file(id, found.byteSize, found.read(undefined, signal))
}

/** Changes nothing but the audit, which notes each export. What fails leaves no file behind. */
export const exportTenant = async (
  place: AdminContext,
  flags: Flags,
  [to = '']: readonly string[],
): Promise<object> => {
  const workspace_id = uuid(flags, 'workspace')
  checkDestination(to, place.config.home)
  const { name } = await withDb(place, (db) => stateOf(db, workspace_id))
  return await asOperator(place, workspace_id, async (_, downloads) => {
    const shelf = await shelfFor(to, undefined)
    const head = { workspace_id, name, program: version, schema: neededVersion() }
    const archive = new TenantArchive(shelf, head)
    try {
      await archive.begin()
      const artifacts = await writeLines(archive, downloads)
      for (const id of artifacts) await writeFile(archive, downloads, id)
      const { bytes, missing } = await archive.finish(downloads.keys)
      return { workspace_id, to, bytes, files: artifacts.length - missing.length, missing }
    } catch (cause) {
      await shelf.discard()
      throw asRefusal(cause)
    }
  })
}
