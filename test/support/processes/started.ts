/** Runs `src/main.ts` with a test's environment until it serves, or ends by itself. */
import { mainProgram } from './bundle.ts'

export interface Started extends AsyncDisposable {
  /** Standard output until it served. */
  out: string
  /** Standard error; complete once it has ended. */
  err(): string
  /** The exit code; undefined while it runs. */
  code: number | undefined
  pid: number
}

/** Variables that every program may need. */
const SYSTEM = ['PATH', 'HOME', 'TMPDIR']

/**
 * None of the tests' own settings reach it. `program`: SOURCE where starting from the sources
 * matters. Disposing shuts it down.
 */
export const start = async (env: Record<string, string>, program?: string): Promise<Started> => {
  const inherited = Object.fromEntries(
    SYSTEM.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  )
  const child = Bun.spawn([process.execPath, program ?? (await mainProgram())], {
    env: { ...inherited, LOG_LEVEL: 'error', CONSOLE: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  const [serves, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  void (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) err += text
    told.resolve()
  })()
  void (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      out += text
      if (out.includes('Drafts by')) serves.resolve()
    }
  })()
  const ended = Promise.all([child.exited, told.promise])
  await Promise.race([serves.promise, ended])
  return {
    out,
    err: () => err,
    code: child.exitCode ?? undefined,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
