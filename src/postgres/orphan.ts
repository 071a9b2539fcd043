import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isCopied } from './copy.ts'
import { isPostmaster, readIfThere } from './process.ts'

/** The content of `postmaster.pid`, which a running Postgres writes into its data directory. */
export interface PidFile {
  pid: number
  /** The data directory's path at the start; the folder may have been moved since. */
  data: string
  socketFolder: string
  /**
   * Key and id of its System V shared memory, which exists only to show which processes are
   * attached.
   */
  memory: string[]
  ready: boolean
}

const pathIn = (data: string): string => join(data, 'postmaster.pid')

/** Reads `postmaster.pid` of a data directory; undefined if there is none. */
export const readPidFile = (data: string): PidFile | undefined => {
  const text = readIfThere(pathIn(data))
  if (text === undefined) return undefined
  const [pid, folder, , , socketFolder, , memory, status] = text
    .split('\n')
    .map((line) => line.trim())
  return {
    pid: Number(pid),
    data: folder ?? '',
    socketFolder: socketFolder ?? '',
    memory: (memory ?? '').split(/\s+/),
    ready: status === 'ready',
  }
}

/**
 * Whether backends of a killed postmaster are still running and may write. Where the kernel does
 * not list them, Postgres itself checks.
 */
const hasBackends = ([key, id]: string[]): boolean =>
  (readIfThere('/proc/sysvipc/shm') ?? '').split('\n').some((line) => {
    const fields = line.trim().split(/\s+/)
    return fields[0] === key && fields[1] === id && Number(fields[6]) > 0
  })

/**
 * The pid alone proves nothing: in a copy of the folder, it names the database of the original,
 * which we must not stop.
 */
const inUse = (data: string, { pid, data: started, memory }: PidFile): boolean =>
  isPostmaster(pid, data) || (hasBackends(memory) && !isCopied(pathIn(data), pathIn(started)))

const POLL_MS = 50

const refusalOf = (data: string, { pid, data: started }: PidFile): string =>
  isPostmaster(pid, data)
    ? `Postgres of an earlier server (process ${pid}) still uses ${data}: end it with kill -INT ${pid} and start again`
    : `${pathIn(data)} names a Postgres that was started on ${started} and still runs. If ${data} was moved from there, stop the server that runs on it; if it is a copy, delete that file`

/**
 * Waits up to `patienceMs` until no Postgres uses `data`. Then removes the pid file, which would
 * keep a new Postgres from starting if its pid now belongs to a zombie or another program, or if
 * the file came with a copy of the folder. If it has to wait, calls `onWait` once, with the pid.
 */
export const awaitOrphan = async (
  data: string,
  patienceMs: number,
  onWait: (pid: number) => void,
): Promise<void> => {
  const deadline = performance.now() + patienceMs
  let waiting = false
  for (let found = readPidFile(data); found && inUse(data, found); found = readPidFile(data)) {
    if (!waiting) onWait(found.pid)
    waiting = true
    if (performance.now() > deadline) throw new Error(refusalOf(data, found))
    await Bun.sleep(POLL_MS)
  }
  rmSync(pathIn(data), { force: true })
}
