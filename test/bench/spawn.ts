/** Processes of a bench: the server that is measured, peers of it, and the load generator. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type postgres from 'postgres'
import type { ConnectionOptions } from '#store/db'
import { ownEnv } from '../support/own-env.ts'
import type { Plan, Result } from './load.ts'

export interface Running extends AsyncDisposable {
  port: number
  pid: number
  /** From the start of the process until it answered `/health`. */
  startMs: number
  output(): string
  /** SIGTERM, and until it has gone; resolves with the milliseconds that took. */
  stop(): Promise<number>
}

const freePort = (): Promise<number> => {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<number>()
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as { port: number }
    server.close(() => resolve(port))
  })
  return promise
}

export const databaseUrl = ({
  host = 'localhost',
  port = 5432,
  database = '',
  username = '',
  password = '',
}: ConnectionOptions): string => {
  const [user, secret, name] = [username, password, database].map(encodeURIComponent)
  return `postgres://${user}:${secret}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`
}

const START_WITHIN_MS = 60_000

const untilHealthy = async (port: number, ended: () => boolean): Promise<boolean> => {
  const url = `http://127.0.0.1:${port}/health`
  for (const until = performance.now() + START_WITHIN_MS; performance.now() < until && !ended(); await Bun.sleep(5)) {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined)
    if (response?.ok) return true
  }
  return false
}

/** Starts a server that listens on the port of PORT, and waits until `/health` answers. */
export async function startProcess(command: string[], env: Record<string, string>): Promise<Running> {
  const port = await freePort()
  const printed: string[] = []
  const started = performance.now()
  const child = Bun.spawn(command, { env: ownEnv({ ...env, PORT: String(port) }), stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr])
    void (async () => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) printed.push(text)
    })()
  const healthy = await untilHealthy(port, () => child.exitCode !== null || child.signalCode !== null)
  const startMs = performance.now() - started
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    const asked = performance.now()
    child.kill(signal)
    await child.exited
    return performance.now() - asked
  }
  if (!healthy) {
    await end('SIGKILL')
    throw new Error(`${command.join(' ')} did not answer:\n${printed.join('')}`)
  }
  const dispose = async () => void (child.exitCode === null && child.signalCode === null && (await end('SIGKILL')))
  return { port, pid: child.pid, startMs, output: () => printed.join(''), stop: () => end('SIGTERM'), [Symbol.asyncDispose]: dispose }
}

/** Runs a process of the bench that reads JSON and prints JSON. */
export async function runProcess<Out>(script: string, input: unknown): Promise<Out> {
  const child = Bun.spawn([process.execPath, script], {
    env: ownEnv(),
    stdio: [new Blob([JSON.stringify(input)]), 'pipe', 'inherit'],
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${script} failed`)
  return JSON.parse(text) as Out
}

/** Puts load on a server from another process. Any answer but success is an error: what is refused costs nothing. */
export async function load(plan: Plan): Promise<Result> {
  const result = await runProcess<Result>('test/bench/load.ts', plan)
  const wrong = Object.keys(result.statuses).filter((status) => !status.startsWith('2'))
  if (wrong.length > 0) throw new Error(`answers other than success: ${JSON.stringify(result.statuses)}`)
  return result
}

const MIB = 1_048_576

/** Resident memory of a process in MiB, or undefined where the system does not say (it needs /proc). */
export const residentMiB = (pid: number): number | undefined => {
  try {
    const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kib === undefined ? undefined : (Number(kib) * 1_024) / MIB
  } catch {
    return undefined
  }
}

const TICKS_PER_SECOND = 100
/** Of /proc/<pid>/stat, counted from behind the name of the process. */
const FIELDS = { parent: 1, user: 11, system: 12 }

const statOf = (pid: number | string): number[] | undefined => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').map(Number)
  } catch {
    return undefined
  }
}

/** Processor time that a process has used so far, in milliseconds; undefined where the system does not say. */
export const cpuMs = (pid: number | string): number | undefined => {
  const fields = statOf(pid)
  return fields && ((fields[FIELDS.user]! + fields[FIELDS.system]!) * 1_000) / TICKS_PER_SECOND
}

/** The same, of a database: all processes beside this session of it that have the same parent. */
export const databaseCpuMs = async (owner: postgres.Sql): Promise<number | undefined> => {
  const [row] = await owner<{ pid: number }[]>`select pg_backend_pid() as pid`
  const postmaster = statOf(row!.pid)?.[FIELDS.parent]
  if (postmaster === undefined) return undefined
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && statOf(name)?.[FIELDS.parent] === postmaster)
  return pids.reduce((sum, pid) => sum + (cpuMs(pid) ?? 0), 0)
}
