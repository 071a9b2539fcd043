import { randomUUID } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readIfThere } from './process.ts'

/** Whether two paths are two folders: what is made in one is not seen in the other, whatever links and mounts there are. */
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
 * Whether the file at `path`, by which a process holds its folder, came there with a copy of the folder: at `original`, where that
 * process has it, stands the same text in another folder. False where that cannot be told, as when a folder in use was moved.
 */
export const isCopied = (path: string, original: string): boolean => {
  if (path === original || basename(path) !== basename(original)) return false
  const text = readIfThere(path)
  return text !== undefined && readIfThere(original) === text && areApart(dirname(path), dirname(original))
}
