import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * The user that the database runs as when the server is root, because Postgres refuses to run as
 * root.
 */
export interface SystemUser {
  uid: number
  gid: number
}

/** A child's whole environment. It has none of our secrets, and no PG* setting of the caller. */
export const CHILD_ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
}

const LINUX = process.platform === 'linux'

/** The text of a file; undefined if it does not exist, or if the process it describes is gone. */
export const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

const ps = (pid: number, column: string): string =>
  spawnSync('/bin/ps', ['-ww', '-o', `${column}=`, '-p', String(pid)], {
    env: CHILD_ENV,
    encoding: 'utf8',
  }).stdout?.trim() ?? ''

/**
 * When a process began. Together with the pid, that identifies the process even after the pid is
 * reused. Undefined if it is dead or a zombie. On Linux, this is in clock ticks since boot (field
 * 22 of /proc/<pid>/stat); elsewhere it is the date that ps prints.
 */
export const processStart = (pid: number): string | undefined => {
  if (!LINUX) return ps(pid, 'stat').startsWith('Z') ? undefined : ps(pid, 'lstart') || undefined
  const stat = readIfThere(`/proc/${pid}/stat`)
  if (!stat) return undefined
  // The second field is the command in parentheses, and may itself contain spaces and parentheses.
  // The state, field 3, follows the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
}

/**
 * Whether `pid` is a live postmaster that was started on `data`. Reads the command line, not the
 * working folder: root in a container cannot see the working folder of another user's process.
 */
export const isPostmaster = (pid: number, data: string): boolean => {
  if (processStart(pid) === undefined) return false
  if (!LINUX) return ps(pid, 'command').includes(`postgres -D ${data}`)
  const words = readIfThere(`/proc/${pid}/cmdline`)?.split('\0') ?? []
  return basename(words[0] ?? '') === 'postgres' && words.includes(data)
}

interface Finished {
  /** Null if a signal ended the program, or if it could not be started. */
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a program to its end as `account`, or as ourselves if that is undefined. Never throws. */
export const runProgram = (command: string[], account?: SystemUser): Promise<Finished> =>
  new Promise((resolve) => {
    const child = spawn(command[0] ?? '', command.slice(1), {
      ...(account && { uid: account.uid, gid: account.gid }),
      cwd: '/',
      env: CHILD_ENV,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', (error) => resolve({ code: null, stdout, stderr: error.message }))
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
