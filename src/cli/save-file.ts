/**
 * Saves a downloaded file, either complete or not at all. Replaces another file only if that is
 * wanted.
 */
import { createHash } from 'node:crypto'
import { link, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileNameOf } from '#kernel/file-name'
import { passTo } from './call.ts'
import { Failure, misuse } from './failure.ts'
import type { Host } from './host.ts'
import { printAnswer } from './print.ts'
import type { Ask, Reply, Transport } from './transport.ts'

export interface SaveTo {
  /** A file, a folder, or `-`. Undefined: the current folder. */
  output: string | undefined
  force: boolean
  json: boolean
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false
const exists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined)) !== undefined

const refuseTaken = (path: string): never =>
  misuse(`${path} exists`, 'use --force to overwrite it, or --output to name another file')

/** The server's name for the file, as a name within this folder. */
const nameIn = ({ headers }: Reply): string => {
  const header = headers['content-disposition'] ?? ''
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(header)?.[1]
  const plain = /filename="([^"]*)"/i.exec(header)?.[1] ?? ''
  try {
    return fileNameOf(extended === undefined ? plain : decodeURIComponent(extended))
  } catch {
    return fileNameOf(plain)
  }
}

/**
 * Throws a `Failure` unless the bytes are those that the server has stored. Its ETag is their hash.
 */
const requireWhole = ({ headers }: Reply, sha256: string): void => {
  const expected = /^"([0-9a-f]{64})"$/.exec(headers.etag ?? '')?.[1]
  if (expected !== sha256)
    throw new Failure('internal', 'the file is not complete: its bytes are not those of the server')
}

/** Moves a complete file to its place. */
const settle = async (draft: string, path: string, force: boolean): Promise<void> => {
  if (force) return rename(draft, path)
  // Unlike a rename, a link fails if another file has appeared there.
  await link(draft, path).catch((cause: { code?: string }) => {
    if (cause.code === 'EEXIST') refuseTaken(path)
    throw cause
  })
  await rm(draft)
}

/** Writes a download beside its place first, and prints where it is. Throws a `Failure`. */
export const saveFile = async (
  transport: Transport,
  ask: Ask,
  host: Host,
  { output, force, json }: SaveTo,
): Promise<void> => {
  const hash = createHash('sha256')
  if (output === '-') {
    const reply = await passTo(transport, ask, host, (bytes) => {
      hash.update(bytes)
      return host.stdout.pass(bytes)
    })
    return requireWhole(reply, hash.digest('hex'))
  }
  const folder = output === undefined ? '.' : (await isFolder(output)) ? output : undefined
  if (folder === undefined && !force && (await exists(output!))) refuseTaken(output!)
  const draft = join(folder ?? dirname(output!), `.tendril-${crypto.randomUUID()}.part`)
  const file = await open(draft, 'wx').catch((cause: Error) => misuse(cause.message))
  let bytes = 0
  try {
    const reply = await passTo(transport, ask, host, async (piece) => {
      hash.update(piece)
      await file.writeFile(piece)
      bytes += piece.byteLength
    }).finally(() => file.close())
    requireWhole(reply, hash.digest('hex'))
    const path = folder === undefined ? output! : join(folder, nameIn(reply))
    await settle(draft, path, force)
    printAnswer(host, { file: { name: basename(path), path, bytes } }, json)
  } catch (cause) {
    await rm(draft, { force: true })
    throw cause
  }
}
