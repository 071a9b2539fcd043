/**
 * The rules about who may import whom, as tables, and the checker that reads source text against
 * them.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import manifest from '../../package.json'

/**
 * Layer → the layers it may import. A layer is a folder of src/, `actors` or `main` (src/main.ts).
 */
const allowed: Record<string, readonly string[]> = {
  kernel: [],
  config: ['kernel'],
  postgres: ['kernel'],
  contract: ['kernel'],
  cli: ['kernel', 'contract'],
  console: ['kernel', 'contract', 'domain'],
  domain: ['kernel', 'contract'],
  store: ['kernel', 'contract', 'domain'],
  port: ['kernel', 'contract', 'domain', 'store'],
  decisions: ['kernel', 'contract', 'domain', 'store', 'port'],
  actors: ['kernel', 'domain', 'store', 'port', 'decisions'],
  ops: ['kernel', 'contract', 'domain', 'store', 'port', 'decisions'],
  edge: ['kernel', 'contract', 'domain', 'store', 'port', 'decisions', 'ops'],
  server: [
    'kernel',
    'config',
    'postgres',
    'contract',
    'cli',
    'domain',
    'store',
    'port',
    'decisions',
    'actors',
    'ops',
    'edge',
  ],
  admin: [
    'kernel',
    'config',
    'postgres',
    'contract',
    'domain',
    'store',
    'port',
    'decisions',
    'ops',
    'server',
  ],
  main: [
    'kernel',
    'config',
    'postgres',
    'contract',
    'cli',
    'domain',
    'store',
    'port',
    'decisions',
    'actors',
    'ops',
    'edge',
    'server',
    'admin',
  ],
  scripts: [
    'kernel',
    'config',
    'postgres',
    'contract',
    'cli',
    'domain',
    'store',
    'port',
    'decisions',
    'ops',
    'edge',
    'server',
    'admin',
    'main',
  ],
}

/** Layer → what else it may name, by `import type` only. */
const allowedTypes: Record<string, readonly string[]> = { ops: ['actors'], edge: ['actors'] }

/**
 * Areas of the product. They exist in every layer, next to the engine, which knows none of them.
 */
const AREA = /^(?:src\/[^/]+|actors\/work)\/(growth|app|agent|operator)\//
const ENGINE = /^(?:src\/[^/]+|actors)\/engine\//

/**
 * The engine of the operations passes the world to handlers and counts what plans allow, so it may
 * use areas of lower layers, but no handlers.
 */
const ENGINE_OF_OPS = /^src\/ops\/engine\//

/** The area `app` stands on its own. */
const APP_ALONE = /^(?:src\/[^/]+|actors\/work)\/app\//

/**
 * Tables that the engine's statements may name: its own, and those that tell whether the caller of
 * a statement still has access.
 */
const ENGINES_OWN = [
  'actor',
  'node',
  'work',
  'outbox',
  'audit',
  'idempotency',
  'counter',
  'migration',
  'deployment',
  'hold',
  'secret_key',
]
const CREDENTIALS = ['api_key', 'session', 'member']
const tables = [
  ...readFileSync('sql/schema.sql', 'utf8').matchAll(/^create table public\.(\w+)/gm),
].map((match) => match[1]!)
const products = tables.filter((table) => ![...ENGINES_OWN, ...CREDENTIALS].includes(table))
const NAMES_TABLE = new RegExp(
  `\\b(?:from|join|into|update|only|table) (?:public\\.)?(${products.join('|')})\\b|sql\`(${products.join('|')})\``,
)

const keepsToItsArea = (path: string, target: string): boolean => {
  const area = AREA.exec(target)?.[1]
  if (area && ENGINE_OF_OPS.test(path)) return layerOf(target) !== 'ops'
  return !(area && ENGINE.test(path)) && !(area === 'growth' && APP_ALONE.test(path))
}

/**
 * Package → the layers that may import it; packages that are not listed are open to all but the
 * closed layers.
 */
const packages: Record<string, readonly string[]> = {
  elysia: ['edge'],
  '@elysiajs/openapi': ['edge'],
  postgres: ['postgres', 'store', 'port'],
  openai: ['port'],
  '@aws-sdk/client-s3': ['port'],
  htmlparser2: ['port'],
  'markdown-it': ['domain'],
  '@modelcontextprotocol/client': ['port'],
  '@modelcontextprotocol/server': ['edge'],
}

/** Layer → the only packages it may import. */
const closed: Record<string, readonly string[]> = { contract: ['@sinclair/typebox'] }

/** Text → the layers in which it may stand, outside of comments. */
const phrases: readonly { says: string; pattern: RegExp; only: readonly string[] }[] = [
  {
    says: 'reads the environment',
    pattern: /\b(process\.env|Bun\.env|import\.meta\.env)\b|'node:process'/,
    only: ['config', 'cli', 'scripts'],
  },
  {
    says: 'begins a transaction among single statements: see Db.systemTransaction',
    pattern: /as postgres\.Sql\)\.begin\(/,
    only: [],
  },
  {
    says: 'adds work that the table of kinds does not describe: see newWork',
    pattern: /\blane: '/,
    only: ['decisions'],
  },
  { says: 'depends on NODE_ENV', pattern: /NODE_ENV/, only: ['scripts'] },
  {
    says: 'has a default export',
    pattern: /^export default\b|^export \{[^}]*\bas default\b/m,
    only: [],
  },
]

/** Path from the root of the repository → source text. */
export type Sources = Record<string, string>

interface Import {
  from: string
  typeOnly: boolean
}

const STATEMENT =
  /^[ \t]*(?:import|export)\b(?<type> type\b)?[^'";=()]*?\bfrom '(?<static>[^']+)'|^import '(?<bare>[^']+)'|\bimport\('(?<dynamic>[^']+)'/gm
const COMMENT = /^\s*\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm

const importsOf = (source: string): Import[] =>
  [...source.matchAll(STATEMENT)].map(({ groups = {} }) => ({
    from: groups.static ?? groups.bare ?? groups.dynamic ?? '',
    typeOnly: groups.type !== undefined,
  }))

const layerOf = (path: string): string => {
  const [top = '', second = '', third] = path.split('/')
  if (top !== 'src') return top
  return third === undefined ? 'main' : second
}

/** The path of an imported file of ours, or undefined for a package. */
const pathOf = (from: string, importer: string): string | undefined => {
  if (from.startsWith('.')) return join(dirname(importer), from)
  for (const [alias, target] of Object.entries(manifest.imports)) {
    const prefix = alias.slice(0, -1)
    if (from.startsWith(prefix)) return join(target.replace('*', from.slice(prefix.length)))
  }
  return undefined
}

const packageOf = (from: string): string =>
  from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/')

const mayImport = (
  layer: string,
  { from, typeOnly }: Import,
  path: string | undefined,
): boolean => {
  if (path === undefined) {
    const name = packageOf(from)
    return (
      layer === 'scripts' ||
      (packages[name]?.includes(layer) ?? closed[layer]?.includes(name) ?? !(layer in closed))
    )
  }
  const target = layerOf(path)
  if (!/\.tsx?$/.test(path) || target === layer) return true
  return (
    Boolean(allowed[layer]?.includes(target)) ||
    (typeOnly && Boolean(allowedTypes[layer]?.includes(target)))
  )
}

const checkFile = (path: string, source: string): string[] => {
  const layer = layerOf(path)
  const code = source.replace(COMMENT, '')
  if (!(layer in allowed)) return [`${path} lies in no known layer`]
  return [
    ...(ENGINE.test(path) && NAMES_TABLE.test(code)
      ? [`${path} names a table of the product in a statement of the engine`]
      : []),
    ...importsOf(code)
      .filter((line) => {
        const target = pathOf(line.from, path)
        return (
          !mayImport(layer, line, target) || (target !== undefined && !keepsToItsArea(path, target))
        )
      })
      .map(({ from }) => `${path} may not import ${from}`),
    ...phrases
      .filter(({ pattern, only }) => pattern.test(code) && !only.includes(layer))
      .map(({ says }) => `${path} ${says}`),
  ]
}

/** Each cycle once, as the path that closes it. */
const cycles = (sources: Sources): string[] => {
  const found: string[] = []
  const done = new Set<string>()
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path))
      return void found.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}`)
    if (done.has(path)) return
    for (const { from } of importsOf((sources[path] ?? '').replace(COMMENT, ''))) {
      const next = pathOf(from, path)
      if (next !== undefined && next in sources) visit(next, [...trail, path])
    }
    done.add(path)
  }
  for (const path of Object.keys(sources)) visit(path, [])
  return found
}

/**
 * A resource has one file in contract/ and one of the same name in ops/, directly in the folder of
 * its area. Other files are not resources.
 */
const unpaired = (sources: Sources): string[] => {
  const group = /^src\/(contract|ops)\/((?!(?:engine|records)\/)[^/]+\/[^/]+)$/
  return Object.keys(sources).flatMap((path) => {
    const [, side, name] = group.exec(path) ?? []
    const twin = `src/${side === 'contract' ? 'ops' : 'contract'}/${name}`
    return side !== undefined && !(twin in sources) ? [`${path} has no ${twin}`] : []
  })
}

/** Every violation of the rules, as a sentence. */
export const breaches = (sources: Sources): string[] => [
  ...Object.entries(sources).flatMap(([path, source]) => checkFile(path, source)),
  ...cycles(sources),
  ...unpaired(sources),
]
