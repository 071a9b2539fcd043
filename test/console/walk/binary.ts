/** The single binary in a folder of its own, with nothing of this machine's environment. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '#test/support/eventually'
import { freePort } from '#test/support/processes/server'

const READY_WITHIN_MS = 90_000
const ENDS_WITHIN_MS = 30_000

export const buildBinary = async (): Promise<string> => {
  const child = Bun.spawn(['npm', 'run', '-s', 'build'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [out, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
  if (code !== 0) throw new Error(`npm run build ended with ${code}`)
  return out.trim().split('\n').at(-1)!
}

export interface Binary extends AsyncDisposable {
  /** As the browser opens it: the deployment's PUBLIC_URL. */
  url: string
  /** What it printed for people, since its first start. */
  printed(): string
  /** Starts it with these variables besides its folder and its port. */
  start(env?: Record<string, string>): Promise<void>
  /** Ends it by SIGTERM. Resolves with its exit code or signal. */
  stop(): Promise<string | number>
  /** kill -9. */
  kill(): Promise<void>
  /** Resolves when it has died. */
  died(): Promise<void>
  /** An operators' command, beside the server. Resolves with the object that it prints. */
  admin(...args: string[]): Promise<Record<string, unknown>>
  /** Whether its Postgres still runs. */
  hasPostgres(): Promise<boolean>
}

type Child = ReturnType<typeof spawned>

const spawned = (command: string[], folder: string, env: Record<string, string>) =>
  Bun.spawn(command, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  )

const within = async <T>(promise: Promise<T>, ms: number, what: string): Promise<T> => {
  const late = Bun.sleep(ms).then(() => {
    throw new Error(`${what} within ${ms} ms`)
  })
  return await Promise.race([promise, late])
}

/** `folder` is empty. */
export const placeBinary = async (program: string, folder: string): Promise<Binary> => {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const home = join(folder, 'home')
  let child: Child | undefined
  let printed = ''
  const own = { TENDRIL_HOME: home, PORT: String(port) }
  const exited = () => child!.exited.then((code) => child!.signalCode ?? code)
  const alive = () => child !== undefined && child.exitCode === null && child.signalCode === null
  const postmaster = async (): Promise<number | undefined> => {
    const [found] = [...new Bun.Glob('**/postmaster.pid').scanSync({ cwd: home, absolute: true })]
    return found && existsSync(found)
      ? Number.parseInt(await readFile(found, 'utf8'), 10)
      : undefined
  }
  const binary: Binary = {
    url,
    printed: () => printed,
    async start(env = {}) {
      child = spawned([program], folder, { ...own, ...env })
      for (const stream of [child.stdout, child.stderr])
        void (async () => {
          for await (const text of stream.pipeThrough(new TextDecoderStream())) printed += text
        })()
      await eventually(
        async () => !alive() || (await answers(url)),
        (done) => done,
        READY_WITHIN_MS,
      )
      if (!alive()) throw new Error(`it ended at once (${await exited()}):\n${printed}`)
    },
    async stop() {
      child!.kill('SIGTERM')
      return await within(exited(), ENDS_WITHIN_MS, 'SIGTERM did not end it')
    },
    async kill() {
      child!.kill('SIGKILL')
      await exited()
    },
    died: async () => void (await within(exited(), ENDS_WITHIN_MS, 'it did not die')),
    async admin(...args) {
      const { stdout } = spawned([program, 'admin', ...args], folder, own)
      return JSON.parse(await new Response(stdout).text())
    },
    hasPostgres: async () => {
      const pid = await postmaster()
      return pid !== undefined && existsSync(`/proc/${pid}`)
    },
    async [Symbol.asyncDispose]() {
      if (alive()) await binary.stop().catch(() => binary.kill())
      const pid = await postmaster()
      if (pid !== undefined && existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGINT')
    },
  }
  return binary
}
