/** The real server, `src/main.ts`, as a separate process that a test may kill. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import postgres from 'postgres'
import { admin } from '#admin/admin'
import { newApiKey } from '#kernel/api-key'
import type { ConnectionOptions } from '#store/engine/db'
import { client, eventually, type TestApp } from '../app.ts'
import { freshDb, TEST_SECRET, type TestDatabase } from '../database/db.ts'
import { mainProgram } from './bundle.ts'

export interface ServerProcess extends AsyncDisposable {
  url: string
  pid: number
  /** Sends with the key of the first workspace; rejects if the process dies before it answers. */
  send: TestApp['send']
  /** Stops the process by SIGSTOP until `resume`. */
  pause(): void
  resume(): void
  /** Resolves when the process has stopped. */
  stopped(): Promise<void>
  /** Ends the process by SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** Ends the process by SIGTERM, as operators do. */
  terminate(): void
  /** The name of the signal that ended it, or its exit code. */
  exited: Promise<string | number>
  /** Its output so far. */
  output(): string
}

export interface ServerOptions {
  /** The key of the first workspace; given to all servers of a database. */
  key: string
  /** The folder for everything, with an embedded database. Either this or `database` is needed. */
  home?: string
  database?: ConnectionOptions
  /** The same secret for all servers of a database. */
  secret?: string
  /** `send.sent`: dies there, as by kill -9. */
  dieAt?: string
  /** A file to load before everything else. */
  preload?: string
  /** A file that serves as the server does, but with the test's changes. */
  program?: string
  /** `send.claimed`: stops there, as by kill -STOP, until `resume`. */
  stopAt?: string
  env?: Record<string, string>
  /**
   * A command to run the server with, such as `nsenter … --`; the server's own command is appended.
   */
  within?: string[]
  /** Its address; 127.0.0.1 by default. */
  host?: string
}

/** How long a start can take on a busy machine. */
const START_MS = 60_000

/** Below the ports of outgoing connections, one of which could otherwise occupy the port first. */
const PORTS = { from: 20_000, count: 12_000 }

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}

export const freePort = async (): Promise<number> => {
  const port = PORTS.from + randomInt(PORTS.count)
  return (await isFree(port)) ? port : freePort()
}

export const urlOf = ({
  host = 'localhost',
  port = 5432,
  database = '',
  username = '',
  password = '',
}: ConnectionOptions): string => {
  const [user, secret, name] = [username, password, database].map(encodeURIComponent)
  return `postgres://${user}:${secret}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`
}

/** The environment of a process of the deployment. */
export const environmentOf = (
  { key, home, database, secret, dieAt, stopAt, env, host }: ServerOptions,
  port: number,
): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  LOG_LEVEL: process.env.TEST_LOG ?? 'warn',
  PORT: String(port),
  RATE_LIMITS: 'off',
  CONSOLE: 'off',
  TENDRIL_BOOTSTRAP_KEY: key,
  ...(home ? { TENDRIL_HOME: home } : {}),
  ...(database ? { DATABASE_URL: urlOf(database) } : {}),
  ...(secret ? { TENDRIL_SECRET_KEY: secret } : {}),
  ...(host ? { HOST: host } : {}),
  ...(dieAt ? { TENDRIL_FAILPOINTS: `${dieAt}=kill` } : {}),
  ...(stopAt ? { TENDRIL_FAILPOINTS: `${stopAt}=stop` } : {}),
  ...env,
})

/** The state of a process; `T` is stopped, on Linux and macOS. */
const stateOf = async (pid: number): Promise<string | undefined> => {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)])
  return stdout.toString().trim()[0]
}

const isHealthy = (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  )

/**
 * Starts a server and waits until it answers. Rejects with its output if it ends before. Disposing
 * kills it.
 */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const port = await freePort()
  const { host = '127.0.0.1', within = [] } = options
  const url = `http://${host}:${port}`
  const printed: string[] = []
  const preload = options.preload ? ['--preload', options.preload] : []
  const program = options.program ?? (await mainProgram())
  const child = Bun.spawn([...within, process.execPath, '--no-orphans', ...preload, program], {
    env: environmentOf(options, port),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr])
    void (async () => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) printed.push(text)
    })()
  const exited = child.exited.then((code) => child.signalCode ?? code)
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  let healthy = false
  const started = async () => {
    healthy = await isHealthy(url)
    return healthy || child.exitCode !== null || child.signalCode !== null
  }
  await eventually(started, (done) => done, START_MS)
  // Asked only once: a server that has answered may die at once, as its test wants.
  if (!healthy) {
    await kill()
    throw new Error(`the server ended (${await exited}) before it answered:\n${printed.join('')}`)
  }
  return {
    url,
    pid: child.pid,
    send: client(url, options.key) as TestApp['send'],
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    stopped: async () =>
      void (await eventually(
        () => stateOf(child.pid),
        (state) => state === 'T',
      )),
    kill,
    terminate: () => child.kill('SIGTERM'),
    exited,
    output: () => printed.join(''),
    [Symbol.asyncDispose]: kill,
  }
}

/** A database for servers, which make their first workspace in it. */
export interface Deployment extends AsyncDisposable {
  owner: postgres.Sql
  /** The options for each of its servers. */
  server: ServerOptions
  /** The workspace that the first server made. */
  firstWorkspace(): Promise<{ tenantId: string; account: string; key: string }>
}

/** Uses a new database, or one that the caller disposes of. */
export async function newDeployment(database?: TestDatabase): Promise<Deployment> {
  await using stack = new AsyncDisposableStack()
  const { options } = database ?? stack.use(await freshDb())
  const owner = postgres({ ...options, max: 2, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
  const key = newApiKey()
  const owned = stack.move()
  return {
    owner,
    server: { key, database: options, secret: TEST_SECRET.toString('base64') },
    async firstWorkspace() {
      const [row] = await owner<
        { tenant_id: string; external_id: string }[]
      >`select tenant_id, external_id from connection`
      return { tenantId: row!.tenant_id, account: row!.external_id, key }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export interface CommandResult {
  code: number
  out: string
  err: string
  /** The parsed output, if the command succeeded. */
  // biome-ignore lint/suspicious/noExplicitAny: every command prints a different shape
  json: any
}

/**
 * Runs `tendril admin …` in this process, beside the servers of a deployment or without one.
 * test/cli/program.test.ts runs such commands as people do.
 */
export const runAdmin = async (
  options: ServerOptions,
  ...args: string[]
): Promise<CommandResult> => {
  let [out, err] = ['', '']
  const code = await admin(args, {
    env: environmentOf(options, 0),
    out: (line) => {
      out += `${line}\n`
    },
    err: (line) => {
      err += `${line}\n`
    },
  })
  return { code, out, err, json: code === 0 ? JSON.parse(out) : undefined }
}
