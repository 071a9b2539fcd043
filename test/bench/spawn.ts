/** The processes of a benchmark: the measured server, its peers and the load generator. */
import { createServer } from 'node:net'
import type { ConnectionOptions } from '#store/engine/db'
import { ownEnv } from '../support/processes/own-env.ts'
import type { Plan, Result } from './load.ts'

export interface Running extends AsyncDisposable {
  port: number
  pid: number
  /** Milliseconds from the start of the process until `/health` answered. */
  startMs: number
  output(): string
  /** Sends SIGTERM and waits for the exit; resolves with the milliseconds that took. */
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
  for (
    const until = performance.now() + START_WITHIN_MS;
    performance.now() < until && !ended();
    await Bun.sleep(5)
  ) {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined)
    if (response?.ok) return true
  }
  return false
}

/** Starts a server on the port of PORT, and waits until `/health` answers. */
export async function startProcess(
  command: string[],
  env: Record<string, string>,
): Promise<Running> {
  const port = await freePort()
  const printed: string[] = []
  const started = performance.now()
  const child = Bun.spawn(command, {
    env: ownEnv({ ...env, PORT: String(port) }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr])
    void (async () => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) printed.push(text)
    })()
  const healthy = await untilHealthy(
    port,
    () => child.exitCode !== null || child.signalCode !== null,
  )
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
  const dispose = async () =>
    void (child.exitCode === null && child.signalCode === null && (await end('SIGKILL')))
  return {
    port,
    pid: child.pid,
    startMs,
    output: () => printed.join(''),
    stop: () => end('SIGTERM'),
    [Symbol.asyncDispose]: dispose,
  }
}

/**
 * A process that reads lines of JSON and answers each with one. It is reused, as code that has run
 * before is fast.
 */
export interface Worker<In, Out> extends AsyncDisposable {
  pid: number
  /** One request at a time. */
  ask(input: In): Promise<Out>
}

/** The process also ends when this one does, since its standard input ends. */
export function startWorker<In, Out>(
  script: string,
  env: Record<string, string> = {},
): Worker<In, Out> {
  const child = Bun.spawn([process.execPath, script], {
    env: ownEnv(env),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.unref()
  const answers = lines(child.stdout)
  return {
    pid: child.pid,
    async ask(input) {
      child.stdin.write(`${JSON.stringify(input)}\n`)
      await child.stdin.flush()
      const { value } = await answers.next()
      if (value === undefined) throw new Error(`${script} failed`)
      return JSON.parse(value) as Out
    },
    async [Symbol.asyncDispose]() {
      await child.stdin.end()
      await child.exited
    },
  }
}

async function* lines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string, undefined> {
  let rest = ''
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const whole = (rest + text).split('\n')
    rest = whole.pop() ?? ''
    yield* whole
  }
}

/** The worker's side: answers each line until its input ends. */
export async function serveLines<In, Out>(answer: (input: In) => Promise<Out>): Promise<void> {
  for await (const line of lines(Bun.stdin.stream()))
    console.log(JSON.stringify(await answer(JSON.parse(line) as In)))
}

/** Load generators without work. */
const idle: Worker<Plan, Result>[] = []

/** More than any run sends: a second run on one server must not replay the first. */
const MOST_ASKED = 2_000_000
let runs = 0

/**
 * Loads a server from another process. Any answer but success is an error, as refusals cost
 * nothing.
 */
export async function load(plan: Omit<Plan, 'from'>): Promise<Result> {
  const generator = idle.pop() ?? startWorker<Plan, Result>('test/bench/load.ts')
  const result = await generator.ask({ ...plan, from: MOST_ASKED * runs++ })
  idle.push(generator)
  const wrong = Object.keys(result.statuses).filter((status) => !status.startsWith('2'))
  if (wrong.length > 0)
    throw new Error(`answers other than success: ${JSON.stringify(result.statuses)}`)
  return result
}

/** Sends each request once. */
export const sendOnce = (port: number, callers: number, requests: string[]): Promise<Result> =>
  load({ port, callers, requests, seconds: ONCE_WITHIN_S, warmUpSeconds: 0, once: true })

const ONCE_WITHIN_S = 300
