/**
 * `src/main.ts` for tests that start it as a process: one bundle for each run, compiled to byte
 * code. Started from the sources, a process spends a second of processor time on some 700 files
 * before it does anything.
 */
import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BunPlugin } from 'bun'
import { eventually } from '../eventually.ts'

/** Carries the path of the bundle from the runner to the worker processes. */
export const BUNDLE_VARIABLE = 'TENDRIL_TEST_BUNDLE'

export const SOURCE = 'src/main.ts'
const root = join(import.meta.dir, '..', '..', '..')

/** How long a worker process waits for the one that bundles, on a busy machine. */
const BUILT_WITHIN_MS = 60_000

/** A bundle lies elsewhere, but takes its files from where the sources lie. */
const inPlace: BunPlugin = {
  name: 'folders of the sources',
  setup(build) {
    build.onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replaceAll(
        'import.meta.dir',
        JSON.stringify(dirname(path)),
      ),
      loader: 'ts',
    }))
  },
}

const build = async (folder: string): Promise<void> => {
  await Bun.build({
    entrypoints: [join(root, SOURCE)],
    outdir: folder,
    target: 'bun',
    // Needed by byte code that lies next to the program.
    format: 'cjs',
    bytecode: true,
    plugins: [inPlace],
  })
}

/**
 * The worker process that creates the folder `making`, which stays, makes the bundle. Later ones
 * find the folder and wait for the bundle, which appears all at once.
 */
const made = async (folder: string): Promise<string> => {
  const making = `${folder}.making`
  const first = await mkdir(making).then(
    () => true,
    () => false,
  )
  const bundle = join(folder, 'main.js')
  if (first) {
    const built = join(making, 'built')
    await build(built)
    await rename(built, folder)
  } else {
    await eventually(
      () => Bun.file(bundle).exists(),
      (exists) => exists,
      BUILT_WITHIN_MS,
    )
  }
  return bundle
}

let bundle: Promise<string> | undefined

/** The path of the program: of its bundle in a test run, of its source elsewhere. */
export const mainProgram = async (): Promise<string> => {
  const folder = process.env[BUNDLE_VARIABLE]
  bundle ??= folder ? made(folder) : Promise.resolve(SOURCE)
  return await bundle
}
