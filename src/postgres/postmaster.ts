import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Log } from '#kernel/log'
import type { Binaries } from './binaries.ts'
import { readPidFile } from './orphan.ts'
import type { SystemUser } from './process.ts'
import { CHILD_ENV, isPostmaster } from './process.ts'
import { PORT } from './socket.ts'

/**
 * The standard input is a pipe that only the server holds. However the server ends, the pipe
 * closes, and Postgres gets the signal for a fast shutdown. The signal is repeated, because one
 * that arrives before Postgres listens is lost. Signals to the whole group are ignored, so that
 * Postgres outlives the server, which decides when to stop it.
 */
const WRAPPER = `
trap '' HUP INT TERM
exec 3<&0 </dev/null
"$@" 3<&- &
postmaster=$!
(
  while read -r _ <&3; do :; done
  tries=0
  while kill -INT $postmaster 2>/dev/null; do
    tries=$((tries + 1))
    if [ $tries -gt 30 ]; then kill -QUIT $postmaster; fi
    sleep 1
  done
) 2>/dev/null &
watch=$!
exec 3<&-
wait $postmaster
status=$?
kill -KILL $watch 2>/dev/null
exit $status
`

export interface PostmasterOptions {
  binaries: Binaries
  data: string
  socketFolder: string
  account: SystemUser | undefined
  durable: boolean
  log: Log
}

/** A Postgres that accepts connections. */
export interface Postmaster {
  /** Settles once Postgres and all its backends have ended, for whatever reason. */
  readonly ended: Promise<void>
  /**
   * Shuts down fast: aborts running statements and writes everything to disk. Uses harder signals
   * after a while. Returns once Postgres has ended.
   */
  stop(): Promise<void>
}

/** Quotes the path as one element of a list setting, where a comma would begin the next element. */
const quote = (path: string): string => `"${path.replaceAll('"', '""')}"`

const settings = ({
  socketFolder,
  durable,
}: PostmasterOptions): Record<string, string | number> => ({
  port: PORT,
  listen_addresses: '',
  unix_socket_directories: quote(socketFolder),
  unix_socket_permissions: '0700',
  password_encryption: 'scram-sha-256',
  shared_buffers: '64MB',
  jit: 'off',
  logging_collector: 'off',
  log_destination: 'stderr',
  log_line_prefix: '',
  // The log must contain neither statements nor the values of a row that broke a rule.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  ...(durable
    ? { max_connections: 60, fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }
    : // In tests, a dozen servers share it, some of them killed a moment ago. They open thousands of connections.
      {
        max_connections: 600,
        fsync: 'off',
        full_page_writes: 'off',
        synchronous_commit: 'off',
        scram_iterations: 1,
        // A connection in use ends up with this plan anyway. This saves the five that Postgres
        // would try first.
        plan_cache_mode: 'force_generic_plan',
        // Between a dozen databases it would start a process every few seconds, and change plans
        // in the middle of a test.
        autovacuum: 'off',
      }),
})

/**
 * Tests open thousands of short sessions; each would give memory back between its statements, only
 * to fault it in again.
 */
const ALLOCATION = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TOP_PAD_: String(2 ** 20),
  MALLOC_TRIM_THRESHOLD_: String(2 ** 28),
  MALLOC_MMAP_THRESHOLD_: String(2 ** 25),
}

const command = (start: PostmasterOptions): string[] => [
  start.binaries.postgres,
  '-D',
  start.data,
  ...Object.entries(settings(start)).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
]

const LEVELS: Record<string, 'error' | 'warn'> = { PANIC: 'error', FATAL: 'warn', WARNING: 'warn' }
const KEPT_LINES = 10

/**
 * Passes Postgres's messages to our log. The returned list collects the latest ones, for the error
 * of a failed start.
 */
const relay = (child: ChildProcess, log: Log): string[] => {
  const latest: string[] = []
  if (!child.stderr) return latest
  createInterface({ input: child.stderr }).on('line', (line) => {
    const [, severity, message] = /^([A-Z]+\d?): +(.*)$/.exec(line) ?? []
    log[LEVELS[severity ?? ''] ?? 'debug']({ from: 'postgres' }, message ?? line)
    latest.push(line)
    if (latest.length > KEPT_LINES) latest.shift()
  })
  return latest
}

const READY_POLL_MS = 10
/**
 * Recovery after a power cut reads the log since the last checkpoint. A start that takes much
 * longer than that hangs.
 */
const READY_PATIENCE_MS = 300_000
/**
 * How long each signal of a stop gets. Together they take less time than the server has for its own
 * stop.
 */
const FAST_STOP_MS = 10_000
const HARD_STOP_MS = 3_000

const endsWithin = async (ms: number, ended: Promise<void>): Promise<boolean> => {
  let timer: Timer | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  const result = await Promise.race([ended.then(() => true), late])
  clearTimeout(timer)
  return result
}

const stop = async (child: ChildProcess, data: string, ended: Promise<void>): Promise<void> => {
  child.stdin?.end()
  if (await endsWithin(FAST_STOP_MS, ended)) return
  for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
    const found = readPidFile(data)
    if (found && isPostmaster(found.pid, data)) process.kill(found.pid, signal)
    if (await endsWithin(HARD_STOP_MS, ended)) return
  }
}

/**
 * Starts Postgres on `data`, which no other process may use, and waits until it accepts
 * connections.
 */
export const startPostmaster = async (start: PostmasterOptions): Promise<Postmaster> => {
  const { account, data, log } = start
  const child = spawn('/bin/sh', ['-c', WRAPPER, 'sh', ...command(start)], {
    ...(account && { uid: account.uid, gid: account.gid }),
    cwd: '/',
    // It runs in a session of its own, so that Ctrl-C at the terminal reaches only the server.
    detached: true,
    env: start.durable ? CHILD_ENV : { ...CHILD_ENV, ...ALLOCATION },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let over = false
  const ended = once(child, 'close').then(
    () => {
      over = true
    },
    () => {
      over = true
    },
  )
  child.stdin?.on('error', () => {})
  const latest = relay(child, log)
  const deadline = performance.now() + READY_PATIENCE_MS
  while (!readPidFile(data)?.ready) {
    if (over)
      throw new Error(
        `the embedded database did not start: ${latest.join(' ') || 'it ended without a word'}`,
      )
    if (performance.now() > deadline) {
      await stop(child, data, ended)
      throw new Error(
        `the embedded database did not become ready within ${READY_PATIENCE_MS / 1000} s: ${latest.join(' ')}`,
      )
    }
    await Bun.sleep(READY_POLL_MS)
  }
  return { ended, stop: () => stop(child, data, ended) }
}
