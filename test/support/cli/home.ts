/** The home folder of a user of the command line, new for each test. */
import { afterEach, beforeEach } from 'bun:test'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TemporaryFolder, temporaryFolder } from '../folder.ts'
import { type CliOptions, cli } from './host.ts'

/** Registers the hooks that make and remove it. */
export const cliHome = () => {
  let folder: TemporaryFolder
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => folder[Symbol.asyncDispose]())
  const home = {
    get path() {
      return folder.path
    },
    /** The path of its configuration. */
    get file() {
      return join(folder.path, '.tendril', 'config.json')
    },
    run: (argv: string[], options: CliOptions = {}) => cli(argv, { home: folder.path, ...options }),
    config: async () => JSON.parse(await readFile(home.file, 'utf8')),
    /** `600`. */
    modeOf: async (path: string) => ((await stat(path)).mode & 0o777).toString(8),
    async write(value: unknown) {
      await mkdir(join(folder.path, '.tendril'), { recursive: true, mode: 0o700 })
      await writeFile(home.file, typeof value === 'string' ? value : JSON.stringify(value), {
        mode: 0o600,
      })
    },
  }
  return home
}
