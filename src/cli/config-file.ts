/**
 * `~/.tendril/config.json` holds the user's profiles. The file contains keys, so only the user may
 * read it. Unknown fields are kept.
 */
import { chmod, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Failure } from './failure.ts'

interface Session {
  token: string
  /** ISO 8601. */
  expires_at: string
}

export interface CliProfile {
  api_url?: string
  api_key?: string
  /**
   * True if `login` created the key, so that `logout` may revoke it. A key that was passed with
   * --api-key is not ours to revoke.
   */
  made_by_login?: boolean
  workspace?: { id: string; name?: string }
  session?: Session
}

export interface Settings {
  current?: string
  profiles: Record<string, CliProfile>
}

const OTHERS = 0o077

const pathOf = (home: string): string => join(home, '.tendril', 'config.json')

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const corrupt = (path: string, why: string): never => {
  throw new Failure('invalid_input', `${path} ${why}`, {
    hint: 'fix the file, or delete it and run tendril login',
  })
}

const isText = (value: unknown): boolean => value === undefined || typeof value === 'string'

const isProfile = (value: unknown): boolean =>
  isObject(value) &&
  isText(value.api_url) &&
  isText(value.api_key) &&
  (value.made_by_login === undefined || typeof value.made_by_login === 'boolean') &&
  (value.workspace === undefined ||
    (isObject(value.workspace) && typeof value.workspace.id === 'string')) &&
  (value.session === undefined ||
    (isObject(value.session) &&
      typeof value.session.token === 'string' &&
      typeof value.session.expires_at === 'string'))

const parse = (text: string, path: string): Settings => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return corrupt(path, 'is not valid JSON')
  }
  if (!isObject(value)) return corrupt(path, 'is not a JSON object')
  const { profiles = {}, current } = value
  if (!isText(current)) return corrupt(path, 'has a current field that is not text')
  if (!isObject(profiles)) return corrupt(path, 'has a profiles field that is not an object')
  const wrong = Object.keys(profiles).find((name) => !isProfile(profiles[name]))
  if (wrong !== undefined) return corrupt(path, `has an invalid profile: ${wrong}`)
  return { ...value, profiles } as Settings
}

/** Removes other users' access, which a copy made with another umask may have. */
const guard = async (path: string, mode: number, warn: (text: string) => void): Promise<void> => {
  const info = await stat(path)
  if ((info.mode & OTHERS) === 0) return
  try {
    await chmod(path, mode)
  } catch {
    throw new Failure(
      'forbidden',
      `${path} is readable by other users, and you cannot change its permissions`,
      {
        hint: `chmod ${mode.toString(8)} ${path}`,
      },
    )
  }
  warn(`${path} was readable by other users; changed its mode to ${mode.toString(8)}`)
}

/** If there is no file, there are no profiles. */
export const readSettings = async (
  home: string,
  warn: (text: string) => void,
): Promise<Settings> => {
  const path = pathOf(home)
  try {
    if (process.platform !== 'win32') await guard(path, 0o600, warn)
    return parse(await readFile(path, 'utf8'), path)
  } catch (cause) {
    const { code } = cause as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') return { profiles: {} }
    if (code === 'EACCES' || code === 'EISDIR')
      throw new Failure('forbidden', `cannot read ${path}: ${code}`)
    throw cause
  }
}

/** Writes atomically: a new file replaces the old one, or the target of a link. */
const writeWhole = async (path: string, text: string): Promise<void> => {
  const target = await realpath(path).catch(() => path)
  const draft = `${target}.${process.pid}.${Date.now().toString(36)}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
    await file.close()
    await rename(draft, target)
  } catch (cause) {
    await file.close().catch(() => {})
    await rm(draft, { force: true })
    throw cause
  }
}

/** The folder may already exist, because the server keeps its data in it. */
export const writeSettings = async (home: string, settings: Settings): Promise<void> => {
  const path = pathOf(home)
  const folder = dirname(path)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (process.platform !== 'win32' && ((await stat(folder)).mode & OTHERS) !== 0)
      await chmod(folder, 0o700)
    await writeWhole(path, `${JSON.stringify(settings, null, 2)}\n`)
  } catch (cause) {
    const { code, message } = cause as { code?: string; message?: string }
    throw new Failure('forbidden', `cannot write ${path}: ${code ?? message}`)
  }
}
