/** Which operations the console calls, by its sources, and which it does not reach yet. */
import { expect, test } from 'bun:test'
import { parseSync } from 'oxc-parser'
import { operations } from '#contract/index'
import unreached from '../data/console-unreached.json'

interface Node {
  type: string
  [field: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof (value as Node | null | undefined)?.type === 'string'

const nameOf = (node: unknown): string | undefined =>
  isNode(node) ? ((node.name ?? node.value) as string) : undefined

/** Functions, attributes and properties that name an operation and do not call it. */
const NAMING = ['mayCall', 'whoMayCall', 'readKey', 'calls', 'queryKey']

const namedBy: Record<string, (node: Node) => unknown> = {
  CallExpression: ({ callee }) => callee,
  JSXAttribute: ({ name }) => name,
  Property: ({ key }) => key,
}

const onlyNames = (node: Node): boolean =>
  node.type === 'TSLiteralType' || NAMING.includes(nameOf(namedBy[node.type]?.(node)) ?? '')

/** The texts of a source, but for those that only name an operation. */
const textsIn = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (!isNode(value) || onlyNames(value)) return []
  if (value.type === 'Literal') return typeof value.value === 'string' ? [value.value] : []
  return Object.values(value).flatMap(textsIn)
}

/** A source calls an operation by its id, or by its address if it has no other operation. */
const byText = new Map(operations.map(({ id }) => [id, id]))
for (const [path, [one, ...others]] of Map.groupBy(operations, ({ path }) => path))
  if (one && others.length === 0) byText.set(path, one.id)

const calledBy = (sources: Record<string, string>): string[] => {
  const called = Object.entries(sources).flatMap(([path, source]) =>
    textsIn(parseSync(path, source).program).flatMap((text) => byText.get(text) ?? []),
  )
  return [...new Set(called)].sort()
}

const sourcesOfConsole = async (): Promise<Record<string, string>> => {
  const paths = [...new Bun.Glob('src/console/**/*.{ts,tsx}').scanSync()]
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await Bun.file(path).text()] as const)),
  )
}

const listed = Object.keys(unreached)

test('the console reaches every operation but those in its list, which says where each belongs', async () => {
  const called = calledBy(await sourcesOfConsole())
  const all = operations.map(({ id }) => id)
  expect({
    'called, and still in test/data/console-unreached.json': called.filter((id) =>
      listed.includes(id),
    ),
    'neither called nor in test/data/console-unreached.json': all.filter(
      (id) => !called.includes(id) && !listed.includes(id),
    ),
    'in test/data/console-unreached.json, but not in the contract': listed.filter(
      (id) => !all.includes(id),
    ),
  }).toEqual({
    'called, and still in test/data/console-unreached.json': [],
    'neither called nor in test/data/console-unreached.json': [],
    'in test/data/console-unreached.json, but not in the contract': [],
  })
})

test('the list is in order, and of no operation silent about why', () => {
  expect(listed).toEqual([...listed].sort())
  expect(Object.values(unreached).filter((why) => why.trim() === '')).toEqual([])
})

test('a role that is asked about and the name of a read are no calls', () => {
  const source = (text: string) => ({ 'one.tsx': text })
  expect(calledBy(source(`command('growth.items.approve', {})`))).toEqual(['growth.items.approve'])
  expect(calledBy(source(`fetch('/api/v1/app/session/refresh')`))).toEqual(['app.session.refresh'])
  for (const text of [
    `mayCall(role, 'growth.items.approve')`,
    `const one = <Action calls="growth.items.approve" />`,
    `read({ queryKey: ['growth.items.get', { id }] })`,
    `type Answer = AnswerOf<'growth.items.get'>`,
  ])
    expect(calledBy(source(text))).toEqual([])
})
