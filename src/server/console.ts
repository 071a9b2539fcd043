/**
 * The console's files. The single binary carries them; from source, a process of its own builds
 * them as the server starts, because a build holds its process up for a tenth of a second.
 */
import { join } from 'node:path'
import type { Config } from '#config/config'
import { type ConsoleFiles, type ConsoleState, consoleBundle } from '#edge/console/bundle'
import { compiled, listAssets, readAsset, sourceFile } from '#kernel/assets'
import type { Log } from '#kernel/log'

/** The folder of the binary that src/scripts/build.ts puts the files into. */
const FOLDER = 'console'
const BUILDER = 'scripts/build-console.ts'
/** Takes half a second on an idle machine. */
const BUILT_WITHIN_MS = 120_000

const carried = (): ConsoleFiles =>
  new Map(listAssets(FOLDER).map((path) => [path.slice(FOLDER.length + 1), readAsset(path)]))

/**
 * Builds the console in another process, always in the same folder, on which the bundler's names
 * depend. Rejects with what that printed.
 */
export const filesBuiltApart = async (signal?: AbortSignal): Promise<ConsoleFiles> => {
  const child = Bun.spawn([process.execPath, sourceFile(BUILDER)], {
    cwd: join(sourceFile(''), '..'),
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    timeout: BUILT_WITHIN_MS,
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0)
    throw new Error(`the console could not be built (${code}): ${err.slice(0, 4_000)}`)
  const files = Object.entries<string>(JSON.parse(out))
  return new Map(files.map(([name, base64]) => [name, Buffer.from(base64, 'base64')]))
}

export interface Console extends Disposable {
  state(): ConsoleState
}

export const openConsole = ({ console }: Pick<Config, 'console'>, log: Log): Console => {
  const gone = new AbortController()
  const closing = { [Symbol.dispose]: () => gone.abort() }
  if (!console) return { ...closing, state: () => 'off' }
  if (compiled) {
    const bundle = consoleBundle(carried())
    return { ...closing, state: () => bundle }
  }
  let state: ConsoleState = 'building'
  void filesBuiltApart(gone.signal)
    .then(consoleBundle)
    .then(
      (built) => {
        state = built
      },
      (cause) => {
        state = 'failed'
        if (!gone.signal.aborted) log.error({ err: cause }, 'there is no console')
      },
    )
  return { ...closing, state: () => state }
}
