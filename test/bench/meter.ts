/** Memory and processor time of processes, as the system reports them. */
import { readdirSync, readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import type postgres from 'postgres'

const MIB = 1_048_576

/** Resident memory of a process in MiB, or undefined without /proc. */
export const residentMiB = (pid: number): number | undefined => {
  try {
    const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kib === undefined ? undefined : (Number(kib) * 1_024) / MIB
  } catch {
    return undefined
  }
}

const TICKS_PER_SECOND = 100
/** Positions in /proc/<pid>/stat, counted after the process's name. */
const FIELDS = { parent: 1, user: 11, system: 12, childrenUser: 13, childrenSystem: 14 }

const statOf = (pid: number | string): number[] | undefined => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').map(Number)
  } catch {
    return undefined
  }
}

const inMs = (ticks: number): number => (ticks * 1_000) / TICKS_PER_SECOND

/** Processor time that a process has used, in milliseconds; undefined without /proc. */
export const cpuMs = (pid: number | string): number | undefined => {
  const fields = statOf(pid)
  return fields && inMs(fields[FIELDS.user]! + fields[FIELDS.system]!)
}

const threadsOf = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

const nameOf = (thread: string): string => {
  try {
    return readFileSync(`/proc/${thread}/comm`, 'utf8').trim()
  } catch {
    return 'ended'
  }
}

/**
 * The same for each thread of a process that lives, summed by name; `main` is the first thread,
 * which runs JavaScript.
 */
export const threadsMs = (pid: number): Map<string, number> => {
  const sums = new Map<string, number>()
  for (const thread of threadsOf(pid)) {
    const path = `${pid}/task/${thread}`
    const name = thread === String(pid) ? 'main' : nameOf(path)
    sums.set(name, (sums.get(name) ?? 0) + (cpuMs(path) ?? 0))
  }
  return sums
}

/**
 * The same for a database: all processes with the parent of this session's process, those that have
 * ended included.
 */
export const databaseCpuMs = async (owner: postgres.Sql): Promise<number | undefined> => {
  const [row] = await owner<{ pid: number }[]>`select pg_backend_pid() as pid`
  const postmaster = statOf(row!.pid)?.[FIELDS.parent]
  const fields = postmaster === undefined ? undefined : statOf(postmaster)
  if (!fields) return undefined
  const ended = inMs(fields[FIELDS.childrenUser]! + fields[FIELDS.childrenSystem]!)
  const pids = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && statOf(name)?.[FIELDS.parent] === postmaster,
  )
  return pids.reduce((sum, pid) => sum + (cpuMs(pid) ?? 0), ended)
}

/** Processor time in milliseconds. */
export interface Used {
  serverMs: number
  databaseMs: number
}

/** What this process and the database have used. */
export const processorMs = async (owner: postgres.Sql): Promise<Used> => {
  const { user, system } = process.cpuUsage()
  return {
    serverMs: (user + system) / 1_000,
    databaseMs: (await databaseCpuMs(owner)) ?? Number.NaN,
  }
}

export const usedSince = async (owner: postgres.Sql, before: Used): Promise<Used> => {
  const after = await processorMs(owner)
  return {
    serverMs: after.serverMs - before.serverMs,
    databaseMs: after.databaseMs - before.databaseMs,
  }
}

const GIB = 2 ** 30

export const machine = async (owner: postgres.Sql, durable: boolean): Promise<string> => {
  const [row] = await owner<
    { version: string }[]
  >`select current_setting('server_version') as version`
  const all = cpus()
  const cores = `${all.length} × ${all[0]?.model ?? 'unknown processor'}`
  const memory = `${Math.round(totalmem() / GIB)} GiB`
  const database = `Postgres ${row?.version} beside the server, fsync ${durable ? 'on' : 'off'}`
  return `${cores}, ${memory}, ${process.platform} ${release()}, Bun ${Bun.version}, ${database}`
}
