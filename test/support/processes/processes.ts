/** Processes of this machine, by /proc. */
import { readdirSync, readFileSync } from 'node:fs'

const statusOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

const isOf = (uid: number, status: string): boolean =>
  new RegExp(`^Uid:\\s+${uid}\\s`, 'm').test(status)

const statusesOf = (uid: number): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statusOf)
    .filter((status) => isOf(uid, status) && !/^State:\s+[ZX]/m.test(status))

/**
 * How many processes of the user are alive. A process that has ended does not count, even if its
 * parent has not collected it.
 */
export const processesOf = (uid: number): number => statusesOf(uid).length

/** Root's shell from which a program of the user descends. */
export const supervisorOf = (uid: number): number => {
  for (let status = statusesOf(uid)[0] ?? ''; status !== ''; ) {
    const parent = /^PPid:\s+(\d+)/m.exec(status)?.[1] ?? ''
    status = statusOf(parent)
    if (isOf(0, status) && /^Name:\s+sh$/m.test(status)) return Number(parent)
  }
  throw new Error(`no supervisor of a process of user ${uid}`)
}
