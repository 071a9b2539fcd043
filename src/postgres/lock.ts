import { createHash, randomUUID } from 'node:crypto'
import { linkSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isCopied } from './copy.ts'
import { processStart, readIfThere } from './process.ts'

/** A process, as a lock file records it. The pid alone would be ambiguous once it is reused. */
interface Holder {
  pid: number
  started: string
  /**
   * The path of the lock file. A copy of the folder has a copy of the file, with the original path.
   */
  path: string
}

const parse = (text: string): Holder | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('pid' in value) || !('started' in value))
      return undefined
    const { pid, started } = value
    const path = 'path' in value && typeof value.path === 'string' ? value.path : ''
    return typeof pid === 'number' && typeof started === 'string'
      ? { pid, started, path }
      : undefined
  } catch {
    return undefined
  }
}

const live = (path: string, text = readIfThere(path)): Holder | undefined => {
  const holder = text === undefined ? undefined : parse(text)
  return holder && processStart(holder.pid) === holder.started && !isCopied(path, holder.path)
    ? holder
    : undefined
}

/** The pid of the live process that holds the lock; undefined if none does. */
export const lockHolder = (path: string): number | undefined => live(path)?.pid

/** A link appears whole or not at all, so nobody reads a half-written lock. */
const tryLink = (from: string, to: string): boolean => {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

const ATTEMPTS = 20

/**
 * Replaces a stale lock, but only under a second lock beside it, named after the stale content, and
 * only while that content is unchanged. Of two processes that both saw it stale, only one wins,
 * wherever either of them is killed.
 */
const claim = (path: string, mine: string): void => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (tryLink(mine, path)) return
    const text = readIfThere(path)
    if (text === undefined) continue
    const holder = live(path, text)
    if (holder)
      throw new Error(
        `process ${holder.pid} already serves this TENDRIL_HOME (${path}): stop it, or set TENDRIL_HOME to another folder`,
      )
    const guard = `${path}.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
    claim(guard, mine)
    try {
      if (readIfThere(path) !== text) continue
      linkSync(mine, `${mine}.next`)
      renameSync(`${mine}.next`, path)
      return
    } finally {
      rmSync(guard, { force: true })
    }
  }
  throw new Error(`${path} could not be taken: other processes keep taking and leaving it`)
}

/**
 * Removes files that processes left beside the lock when they were killed in the middle of `claim`.
 */
const sweep = (path: string): void => {
  for (const name of readdirSync(dirname(path))) {
    const file = join(dirname(path), name)
    if (name.startsWith(`${basename(path)}.`) && !live(file)) rmSync(file, { force: true })
  }
}

/**
 * Takes the lock at `path` for this process, without waiting. Throws with the holder's pid if a
 * live process has it; takes over the lock of a dead one. Disposing releases it.
 */
export const acquireLock = (path: string): Disposable => {
  const text = JSON.stringify({
    pid: process.pid,
    started: processStart(process.pid),
    path,
    token: randomUUID(),
  })
  const mine = `${path}.${randomUUID()}`
  writeFileSync(mine, text, { mode: 0o600, flag: 'wx' })
  try {
    claim(path, mine)
  } finally {
    rmSync(mine, { force: true })
  }
  sweep(path)
  return {
    [Symbol.dispose]() {
      if (readIfThere(path) === text) rmSync(path, { force: true })
    },
  }
}
