import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { parseSync } from 'oxc-parser'
import { breaches, type Sources } from './support/architecture.ts'

const readSources = (): Sources =>
  Object.fromEntries(
    [...new Bun.Glob('{src,actors}/**/*.{ts,tsx}').scanSync()]
      .sort()
      .map((path) => [path, readFileSync(path, 'utf8')]),
  )

test('the source keeps to the layers, without cycles, default exports or other readers of the environment', () => {
  const sources = readSources()
  expect(Object.keys(sources)).toContain('src/config/config.ts')
  expect(breaches(sources)).toEqual([])
})

test('an exported name stands in one file, so that one word has one meaning', () => {
  const files = new Map<string, string[]>()
  for (const [path, source] of Object.entries(readSources())) {
    const { staticExports } = parseSync(path, source).module
    const names = staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, exportName }) => (moduleRequest ? [] : exportName.name!)),
    )
    for (const name of new Set(names)) files.set(name, [...(files.get(name) ?? []), path])
  }
  expect(files.size).toBeGreaterThan(1_000)
  expect(Object.fromEntries([...files].filter(([, paths]) => paths.length > 1))).toEqual({})
})

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s names only files that exist', (page) => {
  const names = [
    ...readFileSync(page, 'utf8').matchAll(/`((?:src|actors|sql|test|\.ci)\/[^`<*]*)`/g),
  ].map((match) => match[1]!)
  expect(names.length).toBeGreaterThan(2)
  expect(names.filter((name) => !existsSync(name))).toEqual([])
})

describe('the checker refuses', () => {
  const cases: [string, string, string][] = [
    ['an upward import', 'src/domain/a.ts', `import { b } from '#store/b'`],
    ['an upward import by a relative path', 'src/domain/a.ts', `import { b } from '../store/b.ts'`],
    ['an import that spans lines', 'src/kernel/a.ts', `import {\n  b,\n  c,\n} from '#domain/b'`],
    ['a re-export', 'src/kernel/a.ts', `export { b } from '#domain/b'`],
    ['an import for its effects', 'src/store/a.ts', `import '#edge/b'`],
    ['a dynamic import', 'src/store/a.ts', `const b = await import('#edge/b')`],
    [
      'an import behind another on the same page',
      'src/store/a.ts',
      `import { x } from '#kernel/x'\nimport type { b } from '#ops/b'`,
    ],
    ['actors that know operations', 'actors/a.ts', `import type { b } from '#ops/b'`],
    ['operations that use actors themselves', 'src/ops/a.ts', `import { b } from '#actors/b'`],
    ['a command line that needs the server', 'src/cli/a.ts', `import { b } from '#domain/b'`],
    ['a package in the contract', 'src/contract/a.ts', `import { b } from 'node:crypto'`],
    ['Elysia outside the edge', 'src/ops/a.ts', `import { Elysia } from 'elysia'`],
    [
      'a subpath of Elysia outside the edge',
      'src/main.ts',
      `import type { b } from 'elysia/types'`,
    ],
    ['postgres outside the store', 'actors/a.ts', `import postgres from 'postgres'`],
    ['openai outside the ports', 'src/ops/a.ts', `import OpenAI from 'openai'`],
    [
      'configuration that needs the product',
      'src/config/config.ts',
      `import { b } from '#domain/b'`,
    ],
    ['tests in the product', 'src/ops/a.ts', `import { b } from '#test/support/b'`],
    ['the environment outside the configuration', 'src/main.ts', `const port = process.env.PORT`],
    ["Bun's name of the environment", 'src/edge/a.ts', `const port = Bun.env.PORT`],
    ['the environment by way of a module', 'src/edge/a.ts', `import { env } from 'node:process'`],
    [
      'another behaviour under test',
      'src/config/config.ts',
      `const testing = env.NODE_ENV === 'test'`,
    ],
    ['work beside its table', 'actors/work/a.ts', `const work = { lane: 'sync', kind: 'watch' }`],
    [
      'an engine that knows an area',
      'actors/engine/a.ts',
      `import { b } from '#decisions/growth/b'`,
    ],
    [
      'an engine of operations that knows an area',
      'src/ops/engine/a.ts',
      `import { b } from '../growth/b.ts'`,
    ],
    [
      'statements of the engine that know an area',
      'src/store/engine/a.ts',
      `import type { B } from '#domain/app/b'`,
    ],
    [
      'statements of the engine that know those of an area',
      'src/store/engine/a.ts',
      `import { b } from '../growth/b.ts'`,
    ],
    [
      'a statement of the engine about a table of the product',
      'src/store/engine/a.ts',
      'const read = sql`select 1 from item i`',
    ],
    [
      'a table of the product joined by the engine',
      'src/store/engine/a.ts',
      'const read = sql`from actor a join public.tenant t on true`',
    ],
    [
      'a table of the product handed to a statement of the engine',
      'actors/engine/a.ts',
      'const table = sql`webhook_endpoint`',
    ],
    [
      'an area app that knows growth in the domain',
      'src/domain/app/a.ts',
      `import { b } from '#domain/growth/drafting/b'`,
    ],
    [
      'an area app that knows growth in its decisions',
      'src/decisions/app/a.ts',
      `import { b } from '../growth/b.ts'`,
    ],
    [
      'an area app that knows growth in its work',
      'actors/work/app/a.ts',
      `import type { B } from '#store/growth/b'`,
    ],
    [
      'an area app that knows growth in the store',
      'src/store/app/a.ts',
      `import type { B } from '../growth/b.ts'`,
    ],
    ['a default export', 'src/main.ts', `export default {}`],
    ['an unknown folder', 'src/misc/a.ts', ''],
    ['a resource without operations', 'src/contract/growth/a.ts', ''],
    ['operations without a contract', 'src/ops/growth/a.ts', ''],
  ]
  test.each(cases)('%s', (_, path, source) => {
    expect(breaches({ [path]: source })).toHaveLength(1)
  })

  test('an area app that knows growth in the contract and in its operations', () => {
    const sources = {
      'src/contract/app/a.ts': `import { B } from '../growth/b.ts'`,
      'src/ops/app/a.ts': `import { b } from '#store/growth/b'`,
    }
    expect(breaches(sources)).toEqual([
      'src/contract/app/a.ts may not import ../growth/b.ts',
      'src/ops/app/a.ts may not import #store/growth/b',
    ])
  })

  test('a cycle, even of types', () => {
    const sources = {
      'src/domain/a.ts': `import type { B } from './b.ts'`,
      'src/domain/b.ts': `import { a } from '#domain/a'`,
    }
    expect(breaches(sources)).toEqual([
      'cycle: src/domain/a.ts → src/domain/b.ts → src/domain/a.ts',
    ])
  })
})

describe('the checker accepts', () => {
  const cases: [string, string, string][] = [
    ['a downward import', 'src/edge/a.ts', `import { b } from '#ops/b'`],
    [
      'statements of the engine about its own tables',
      'src/store/engine/a.ts',
      'const read = sql`select 1 from work w join actor a on true`',
    ],
    [
      'statements of an area about the tables of the product',
      'src/store/growth/a.ts',
      'const read = sql`select 1 from item i`',
    ],
    ['an area that uses the engine', 'src/store/growth/a.ts', `import { b } from '../engine/b.ts'`],
    ['growth that uses app', 'src/domain/growth/a.ts', `import { b } from '#domain/app/b'`],
    [
      'the world of handlers in the engine of operations',
      'src/ops/engine/a.ts',
      `import type { B } from '#decisions/agent/b'`,
    ],
    ['what operations of an area share', 'src/ops/growth/shared/a.ts', ''],
    [
      'an engine that uses what belongs to no area',
      'actors/engine/a.ts',
      `import type { B } from '#decisions/b'`,
    ],
    ['the types of actors in operations', 'src/ops/a.ts', `import type { b } from '#actors/b'`],
    ['TypeBox in the contract', 'src/contract/a.ts', `import { Type } from '@sinclair/typebox'`],
    ['Elysia at the edge', 'src/edge/a.ts', `import { Elysia } from 'elysia'`],
    [
      'the environment in the configuration',
      'src/config/config.ts',
      `const read = (env = process.env) => env`,
    ],
    [
      'anything in scripts',
      'src/scripts/a.ts',
      `import postgres from 'postgres'\nimport { b } from '#edge/b'\nprocess.env.CI`,
    ],
    [
      'files that are not code',
      'src/store/a.ts',
      `import text from '../../sql/a.sql' with { type: 'text' }`,
    ],
    [
      'comments about what is forbidden',
      'src/main.ts',
      `/** import { b } from '#x/b', process.env */\n// export default, process.env`,
    ],
    [
      'addresses, which are not comments',
      'src/edge/a.ts',
      `const home = 'https://localhost/' // process.env`,
    ],
  ]
  test.each(cases)('%s', (_, path, source) => {
    expect(breaches({ [path]: source })).toEqual([])
  })

  test('a resource in both places', () => {
    expect(breaches({ 'src/contract/growth/a.ts': '', 'src/ops/growth/a.ts': '' })).toEqual([])
  })
})
