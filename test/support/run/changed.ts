/**
 * Which tests a change can reach: those whose imports, followed to the end, include a changed file.
 * Bun's own `--changed` does not follow the package's `#` imports.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** The text of a file by its path; undefined if there is none. */
export type Read = (path: string) => string | undefined

const IMPORT = /(?:from|import|import\()\s*['"]([^'"]+)['"]/g
/**
 * Files that are named rather than imported: programs that a test starts, and files that it reads.
 */
const NAMED = /['"`]((?:(?:\.{1,2}|src|actors|test|docs)\/[\w./-]+\.\w+)|[A-Z]+\.md)['"`]/g
/** A test that searches the tree depends on all of it. */
const SEARCHES = /\bnew Bun\.Glob\(/
const ALIAS = /^#(actors|test|src)\/(.*)$/

const pathOf = (name: string, from: string): string | undefined => {
  if (name.startsWith('.')) return normalize(join(dirname(from), name))
  if (/^(src|actors|test|docs)\/|^[A-Z]+\.md$/.test(name)) return name
  if (!name.startsWith('#')) return undefined
  const [, root, rest] = ALIAS.exec(name) ?? []
  return root ? `${root}/${rest}.ts` : `src/${name.slice(1)}.ts`
}

const reachedFrom = (path: string, read: Read): string[] => {
  const text = /\.(ts|tsx|mts|mjs)$/.test(path) ? read(path) : undefined
  if (text === undefined) return []
  return [IMPORT, NAMED].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(([, name = '']) => pathOf(name, path) ?? []),
  )
}

/** The given files, and everything that they reach. */
const closureOf = (path: string, direct: (path: string) => string[]): Set<string> => {
  const reached = new Set([path])
  for (const one of reached) for (const next of direct(one)) reached.add(next)
  return reached
}

/** Everything depends on these: packages, the compiler's options, and the schema. */
const EVERYWHERE = /^(package\.json|package-lock\.json|tsconfig\.json|sql\/|test\/run\.ts)/

/** The tests that a change to these files can reach. */
export const testsReachedBy = (
  changed: readonly string[],
  tests: readonly string[],
  read: Read,
): string[] => {
  if (changed.some((path) => EVERYWHERE.test(path))) return [...tests]
  const known = new Map<string, string[]>()
  const direct = (path: string) => known.getOrInsertComputed(path, () => reachedFrom(path, read))
  const isChanged = new Set(changed)
  return tests.filter(
    (test) =>
      SEARCHES.test(read(test) ?? '') ||
      [...closureOf(test, direct)].some((path) => isChanged.has(path)),
  )
}

const gitLines = (...args: string[]): string[] =>
  execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)

/** The files that differ from a commit, including those that git does not track yet. */
export const filesChangedSince = (commit: string): string[] => [
  ...gitLines('diff', '--name-only', '--relative', commit),
  ...gitLines('ls-files', '--others', '--exclude-standard'),
]

export const readFile: Read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)
