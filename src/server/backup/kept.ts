/** The backups in the folder that a server keeps its own in, by their names. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ARCHIVE_ENDING, PART_MARK } from './destination.ts'

export interface KeptBackup {
  name: string
  /** When it was begun, in milliseconds since 1970. */
  at: number
}

/** A part that has not grown for this long belongs to a backup that died. */
const DEAD_MS = 3_600_000

/** Tells the backups of deployments that share a folder apart. */
const prefixOf = (deployment: string): string => `tendril-${deployment.slice(-12)}-`

/** `tendril-6f0c4d1e8a2b-20261128T030000Z.tar.zst` */
export const keptName = (deployment: string, at: Date): string => {
  const stamp = at.toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '')
  return `${prefixOf(deployment)}${stamp}${ARCHIVE_ENDING}`
}

const STAMP = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

const timeOf = (name: string, deployment: string): number => {
  if (!name.startsWith(prefixOf(deployment)) || !name.endsWith(ARCHIVE_ENDING)) return Number.NaN
  const stamp = name.slice(prefixOf(deployment).length, -ARCHIVE_ENDING.length)
  return STAMP.test(stamp) ? Date.parse(stamp.replace(STAMP, '$1-$2-$3T$4:$5:$6Z')) : Number.NaN
}

/** Those that this naming has made, newest first. A file has its name only once it is finished. */
export const keptBackups = async (folder: string, deployment: string): Promise<KeptBackup[]> =>
  (await readdir(folder))
    .map((name) => ({ name, at: timeOf(name, deployment) }))
    .filter(({ at }) => !Number.isNaN(at))
    .sort((a, b) => b.at - a.at)

/** Removes all but the newest `keep`, and what backups that died have left. */
export const pruneBackups = async (
  folder: string,
  deployment: string,
  keep: number,
): Promise<string[]> => {
  const old = (await keptBackups(folder, deployment)).slice(keep).map(({ name }) => name)
  for (const name of old) await rm(join(folder, name), { force: true })
  for (const name of await readdir(folder)) {
    const [whole = '', part] = name.split(PART_MARK)
    if (part === undefined || Number.isNaN(timeOf(whole, deployment))) continue
    const grew = await stat(join(folder, name)).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    )
    if (Date.now() - grew > DEAD_MS) await rm(join(folder, name), { force: true })
  }
  return old
}
