/** The files of the built console: hashed names, types, and each compressed once. */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'

/** By name, such as `main-k3x9.js`. */
export type ConsoleFiles = ReadonlyMap<string, Uint8Array>

export interface ConsoleAsset {
  type: string
  etag: string
  plain: Uint8Array<ArrayBuffer>
  /** Undefined for what is compressed already. */
  gzip: Uint8Array<ArrayBuffer> | undefined
}

export interface ConsoleBundle {
  assets: ReadonlyMap<string, ConsoleAsset>
  /** Names of the files that the page begins with. */
  script: string
  style: string
  /** The name of the shared worker's script. */
  worker: string
}

/** `off`: this deployment has no console. `failed`: it could not be built; the log says why. */
export type ConsoleState = 'off' | 'building' | 'failed' | ConsoleBundle

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
}
const COMPRESSED = ['woff2']
const LEVEL = 9

const extensionOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

const assetOf = (name: string, bytes: Uint8Array): ConsoleAsset => {
  const extension = extensionOf(name)
  const type = TYPES[extension]
  if (type === undefined) throw new Error(`the console has a file of an unknown type: ${name}`)
  const plain = new Uint8Array(bytes)
  return {
    type,
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`,
    plain,
    gzip: COMPRESSED.includes(extension) ? undefined : gzipSync(plain, { level: LEVEL }),
  }
}

const entryOf = (files: ConsoleFiles, name: string, extension: string): string => {
  const found = [...files.keys()].filter(
    (one) => one.startsWith(`${name}-`) && one.endsWith(`.${extension}`),
  )
  if (found.length !== 1)
    throw new Error(`the console has ${found.length} files ${name}-*.${extension}`)
  return found[0]!
}

/** Throws if a file is missing or of an unknown type. */
export const consoleBundle = (files: ConsoleFiles): ConsoleBundle => ({
  assets: new Map([...files].map(([name, bytes]) => [name, assetOf(name, bytes)])),
  script: entryOf(files, 'main', 'js'),
  style: entryOf(files, 'style', 'css'),
  worker: entryOf(files, 'worker', 'js'),
})
