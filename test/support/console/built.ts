/** The console, built once for all tests of a worker process. */
import type { BunPlugin } from 'bun'
import { type ConsoleBundle, consoleBundle } from '#edge/console/bundle'
import { buildConsole } from '#src/scripts/build-console'

export interface BuiltConsole {
  bundle: ConsoleBundle
  /** The paths of all files that went in. */
  sources: string[]
}

let built: Promise<BuiltConsole> | undefined

const build = async (): Promise<BuiltConsole> => {
  const sources: string[] = []
  const watch: BunPlugin = {
    name: 'sources',
    setup: (builder) => {
      builder.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, ({ path }) => {
        sources.push(path)
        return undefined
      })
    },
  }
  const files = await buildConsole([watch])
  return { bundle: consoleBundle(files), sources }
}

export const builtConsole = (): Promise<BuiltConsole> => {
  built ??= build()
  return built
}
