/** Processes of this machine, by /proc. */
import { readdirSync, readFileSync } from 'node:fs'

const statusOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

/** How many processes of the user live. One that has ended counts no longer, though nobody has asked how. */
export const processesOf = (uid: number): number =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statusOf)
    .filter((status) => new RegExp(`^Uid:\\s+${uid}\\s`, 'm').test(status) && !/^State:\s+[ZX]/m.test(status)).length
