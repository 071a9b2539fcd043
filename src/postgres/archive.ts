import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

interface File {
  /** Relative to the folder of the binaries. */
  path: string
  size: number
  executable: boolean
}

interface Link {
  path: string
  /** As stored in the symbolic link: relative to the link's folder. */
  target: string
}

interface Index {
  files: File[]
  links: Link[]
}

/** Files that are needed only to build against Postgres. They are a fifth of all bytes. */
const needless = (path: string): boolean =>
  path.endsWith('.a') || path.includes('/pkgconfig/') || path === 'pg-symlinks.json'

/**
 * npm packages cannot hold symbolic links; this one lists them in a file, relative to the package.
 */
const linksOf = (native: string): Link[] => {
  const listed: unknown = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  if (!Array.isArray(listed)) throw new Error(`${native}/pg-symlinks.json is not a list`)
  return listed.map(({ source, target }: { source: string; target: string }) => ({
    path: relative(basename(native), target),
    target: relative(dirname(target), source),
  }))
}

const indexOf = (native: string): Index => {
  const links = linksOf(native)
  // If the package's own install script did run, the links exist too.
  const linked = new Set(links.map((link) => link.path))
  const files = readdirSync(native, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(native, join(entry.parentPath, entry.name)))
    .filter((path) => !linked.has(path) && !needless(path))
    .sort()
    .map((path) => {
      const { size, mode } = statSync(join(native, path))
      return { path, size, executable: (mode & 0o100) !== 0 }
    })
  return { files, links }
}

const makeFolders = (folder: string, { files, links }: Index): void => {
  mkdirSync(folder, { recursive: true })
  for (const path of new Set([...files, ...links].map((entry) => dirname(entry.path))))
    mkdirSync(join(folder, path), { recursive: true })
  // The modes are explicit, because under a umask of 077 the database's user could not enter.
  const folders = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  )
  for (const path of [folder, ...folders.map((entry) => join(entry.parentPath, entry.name))])
    chmodSync(path, 0o755)
  for (const { path, target } of links) symlinkSync(target, join(folder, path))
}

const modeOf = ({ executable }: File): number => (executable ? 0o755 : 0o644)

/** Copies a package's `native` folder into the new folder `folder`, with its symbolic links. */
export const copyNative = (native: string, folder: string): void => {
  const index = indexOf(native)
  makeFolders(folder, index)
  for (const file of index.files) {
    copyFileSync(join(native, file.path), join(folder, file.path))
    chmodSync(join(folder, file.path), modeOf(file))
  }
}

const LENGTH_BYTES = 4
const COMPRESSION = 9

/**
 * A package's `native` folder as one zstd stream: the length of a JSON index (32 bits,
 * little-endian), the index, the files' bytes.
 */
export const packNative = (native: string): Promise<Uint8Array> => {
  const index = indexOf(native)
  const head = Buffer.from(JSON.stringify(index))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(head.length)
  const bodies = index.files.map(({ path }) => readFileSync(join(native, path)))
  return Bun.zstdCompress(Buffer.concat([length, head, ...bodies]), { level: COMPRESSION })
}

/** Writes what `packNative` packed into the new folder `folder`. */
export const unpackNative = async (packed: Uint8Array, folder: string): Promise<void> => {
  const bytes = await Bun.zstdDecompress(packed)
  const start = LENGTH_BYTES + bytes.readUInt32LE()
  // Made by packNative at build time, so its shape is known.
  const index = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, start)) as Index
  makeFolders(folder, index)
  let at = start
  for (const file of index.files) {
    writeFileSync(join(folder, file.path), bytes.subarray(at, at + file.size))
    chmodSync(join(folder, file.path), modeOf(file))
    at += file.size
  }
}
