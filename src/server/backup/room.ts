/** Where a backup may go, and whether it fits there. */
import { existsSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fail } from '#kernel/errors'

/** The share of the database's disk that a backup leaves free, in all. */
export const LEAST_FREE = 0.1

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [statSync(one), statSync(other)]
  return a.dev === b.dev && a.ino === b.ino
}

/** The nearest folder of a path that exists. */
const existing = (path: string): string => (existsSync(path) ? path : existing(dirname(path)))

const above = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...above(dirname(folder))]

/** Whether `path`, which need not exist, lies in `home`, by whatever links and mounts. */
export const isInside = (path: string, home: string): boolean =>
  existsSync(home) &&
  above(realpathSync(existing(resolve(path)))).some((folder) => isSame(folder, home))

interface Space {
  free: number
  total: number
}

export const spaceOf = (folder: string): Space => {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { free: bavail * bsize, total: blocks * bsize }
}

const MIB = 2 ** 20
export const inMib = (bytes: number): string => `${Math.ceil(bytes / MIB).toLocaleString('en')} MiB`

/** Throws if the disk of the database is nearly full. */
export const requireFreeDisk = (data: string, least: number): void => {
  const { free, total } = spaceOf(data)
  if (free < total * least)
    fail(
      'unavailable',
      `less than ${least * 100} % of the database's disk is free (${inMib(free)}): the database grows while a backup is made, so make room first`,
    )
}

/**
 * Throws if a backup of `bytes` may not fit. Compressed it is usually a fifth of that, but files
 * that workspaces keep may not compress at all.
 */
export const requireRoom = (
  to: string,
  bytes: number,
  { data, least }: { data: string | undefined; least: number },
): void => {
  const folder = existing(resolve(to))
  const { free, total } = spaceOf(folder)
  const shares = data !== undefined && statSync(folder).dev === statSync(data).dev
  const spare = shares ? total * least : 0
  if (free - spare < bytes)
    fail(
      'unavailable',
      `the backup may need ${inMib(bytes)}${shares ? `, and ${least * 100} % of the database's disk must stay free` : ''}, but ${folder} has ${inMib(free)}: nothing was written`,
    )
}
