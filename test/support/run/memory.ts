/**
 * Where tests keep their temporary files: in memory if the system has room there, for the sake of
 * the databases.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Part of Linux. It is small in containers, and programs sometimes cannot run from it. */
const IN_MEMORY = '/dev/shm'
/** Far more than any run has been seen to use at once. */
const ROOM_BYTES = 4 * 2 ** 30

const hasRoom = (path: string): boolean => {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize >= ROOM_BYTES
}

/** Databases keep their programs in their folder too. */
const runsPrograms = (path: string): boolean => {
  const folder = mkdtempSync(join(path, 'tendril-test-'))
  try {
    const program = join(folder, 'program')
    writeFileSync(program, '#!/bin/sh\n')
    chmodSync(program, 0o700)
    return spawnSync(program).status === 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A folder in memory with room for a test run; undefined where there is none. */
export const folderInMemory = (path = IN_MEMORY): string | undefined => {
  try {
    return hasRoom(path) && runsPrograms(path) ? path : undefined
  } catch {
    return undefined
  }
}
