/**
 * Writes the first workspace's key and its owner's link to a file instead of the log, because logs
 * of containers are kept forever. The file is removed once the owner has joined.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startPeriodic } from '#actors/engine/periodic'
import { systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { anOwner } from '#store/app/members'
import type { Db } from '#store/engine/db'
import type { NewWorkspace } from './first-start.ts'

const LOOK_EVERY_MS = 2_000

export const firstStartFile = (home: string): string => join(home, 'first-start.json')

const isMissing = (cause: unknown): boolean => (cause as { code?: unknown }).code === 'ENOENT'

/**
 * Writes the file, readable only by this user, either whole or not at all. Throws `invalid_input`
 * if that fails.
 */
export const keepFirstStart = async (home: string, made: NewWorkspace): Promise<void> => {
  const path = firstStartFile(home)
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const { id: workspace_id, apiKey: api_key, signInUrl: sign_in_url } = made
  const text = `${JSON.stringify({ workspace_id, api_key, sign_in_url }, null, 2)}\n`
  try {
    await mkdir(home, { recursive: true, mode: 0o700 })
    await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true })
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {})
    const says = cause instanceof Error ? cause.message : String(cause)
    const message = `TENDRIL_FIRST_START is file, and ${path} cannot be written: ${says}`
    throw new AppError('invalid_input', message, { cause })
  }
}

/** The workspace that the file names; undefined if there is no file. */
const workspaceIn = async (path: string): Promise<string | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8')).workspace_id
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw cause
  }
}

interface Watch {
  db: Db
  log: Log
  everyMs?: number
}

/** Removes the file once its workspace has an owner. Checks only while there is a file. */
export const startForgetting = async (
  home: string,
  { db, log, everyMs = LOOK_EVERY_MS }: Watch,
): Promise<AsyncDisposable> => {
  const path = firstStartFile(home)
  let watch: AsyncDisposable | undefined
  let isOver = false
  const look = async (): Promise<void> => {
    const tenantId = await workspaceIn(path)
    if (tenantId !== undefined && (await db.read({ tenantId }, anOwner)).length === 0) return
    await rm(path, { force: true })
    isOver = true
  }
  const pass = async (): Promise<void> => {
    if (isOver) return
    await look().catch((cause) =>
      log.warn({ err: cause, path }, 'could not look after the file of the first start'),
    )
  }
  await pass()
  if (!isOver) watch = startPeriodic({ clock: systemClock, everyMs, pass })
  return { [Symbol.asyncDispose]: async () => await watch?.[Symbol.asyncDispose]() }
}
