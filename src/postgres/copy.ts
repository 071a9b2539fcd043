import { randomUUID } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readIfThere } from './process.ts'

/**
 * Whether two paths lead to two different folders, whatever links and mounts there are: a file made
 * in one does not appear in the other.
 */
const areApart = (here: string, there: string): boolean => {
  const name = `.apart-${randomUUID()}`
  try {
    writeFileSync(join(here, name), '', { flag: 'wx' })
    return !existsSync(join(there, name))
  } catch {
    return false
  } finally {
    rmSync(join(here, name), { force: true })
  }
}

/**
 * Whether the lock file at `path` was copied along with its folder. It was if another folder, at
 * `original`, where the file's process keeps it, has a file with the same text. False if that
 * cannot be told, for example because a folder in use was moved.
 */
export const isCopied = (path: string, original: string): boolean => {
  if (path === original || basename(path) !== basename(original)) return false
  const text = readIfThere(path)
  return (
    text !== undefined &&
    readIfThere(original) === text &&
    areApart(dirname(path), dirname(original))
  )
}
