/** What a process of the operating system holds in memory. */
import { readFileSync } from 'node:fs'

/** Resident memory of a process, in MiB. */
export const residentOf = (pid: number): number => {
  if (process.platform === 'linux') {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kib) / 1_024
  }
  return Number(Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)]).stdout.toString()) / 1_024
}
