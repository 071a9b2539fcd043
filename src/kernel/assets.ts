import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Whether the program runs as the single binary, which carries its files in a read-only file system
 * of its own.
 */
export const compiled = Bun.isStandaloneExecutable

/**
 * In the binary every embedded folder lies at the root; in a checkout, at the top of the
 * repository.
 */
const root = compiled ? import.meta.dir : join(import.meta.dir, '..', '..')

/**
 * The sorted paths of the files directly in `folder` (`sql/000125-first.sql`); empty if this build
 * has no such folder.
 */
export const listAssets = (folder: string): string[] =>
  (existsSync(join(root, folder)) ? readdirSync(join(root, folder), { withFileTypes: true }) : [])
    .filter((entry) => entry.isFile())
    .map((entry) => `${folder}/${entry.name}`)
    .sort()

/**
 * The bytes of a file that ships with the program, whether in a checkout or in the single binary.
 */
export const readAsset = (path: string): Uint8Array => readFileSync(join(root, path))

/** The same, decoded as UTF-8. */
export const readText = (path: string): string => readFileSync(join(root, path), 'utf8')

/**
 * The file of a program that runs in a worker, by its path under `src/`. A binary has its own copy
 * (src/scripts/build.ts).
 */
export const sourceFile = (path: string): string => join(root, compiled ? '' : 'src', path)
