/** Memory and processor time of processes, as the system reports them. */
import { readdirSync, readFileSync } from 'node:fs'
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
const FIELDS = { parent: 1, user: 11, system: 12 }

const statOf = (pid: number | string): number[] | undefined => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').map(Number)
  } catch {
    return undefined
  }
}

/** Processor time that a process has used, in milliseconds; undefined without /proc. */
export const cpuMs = (pid: number | string): number | undefined => {
  const fields = statOf(pid)
  return fields && ((fields[FIELDS.user]! + fields[FIELDS.system]!) * 1_000) / TICKS_PER_SECOND
}

/** The same for the process's first thread, which runs JavaScript. */
export const threadMs = (pid: number): number | undefined => cpuMs(`${pid}/task/${pid}`)

/** The same for a database: all processes with the parent of this session's process. */
export const databaseCpuMs = async (owner: postgres.Sql): Promise<number | undefined> => {
  const [row] = await owner<{ pid: number }[]>`select pg_backend_pid() as pid`
  const postmaster = statOf(row!.pid)?.[FIELDS.parent]
  if (postmaster === undefined) return undefined
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && statOf(name)?.[FIELDS.parent] === postmaster)
  return pids.reduce((sum, pid) => sum + (cpuMs(pid) ?? 0), 0)
}

/** Processor time of this process and of the database, in milliseconds. */
export const processorMs = async (owner: postgres.Sql): Promise<number> => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + ((await databaseCpuMs(owner)) ?? Number.NaN)
}
