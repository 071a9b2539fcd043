import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whether this is the single binary, whose files lie in a read-only file system of its own. */
export const compiled = Bun.isStandaloneExecutable

/** In the binary every embedded folder lies at the root; in a checkout, at the top of the repository. */
const root = compiled ? import.meta.dir : join(import.meta.dir, '..', '..')

/** The paths of the files directly in `folder` (as `sql/000001-first.sql`), sorted; none where this build has no such folder. */
export const listAssets = (folder: string): string[] =>
  (existsSync(join(root, folder)) ? readdirSync(join(root, folder), { withFileTypes: true }) : [])
    .filter((entry) => entry.isFile())
    .map((entry) => `${folder}/${entry.name}`)
    .sort()

/** The bytes of a file that ships with the program, the same from a checkout and from the single binary. */
export const readAsset = (path: string): Uint8Array => readFileSync(join(root, path))

/** As `readAsset`, decoded as UTF-8. */
export const readText = (path: string): string => readFileSync(join(root, path), 'utf8')
