import { expect, test } from 'bun:test'
import { type Lister, ModuleWatch } from '#edge/mcp/module-watch'

const lister = (tenantId: string, listed: string[] | undefined) => {
  const told: string[][] = []
  const one: Lister = {
    tenantId,
    listed: listed && new Set(listed),
    changed: (now) => void told.push([...now]),
  }
  return { one, told }
}

test('only those are told whose list is another one now', async () => {
  const watch = new ModuleWatch(async (tenantId) => new Set(tenantId === 'a' ? ['agent'] : []))
  const [changed, same, gone, independent] = [
    lister('a', []),
    lister('a', ['agent']),
    lister('b', ['agent']),
    lister('a', undefined),
  ]
  await watch.sweep([changed, same, gone, independent].map(({ one }) => one))
  expect([changed, same, gone, independent].map(({ told }) => told)).toEqual([
    [['agent']],
    [],
    [[]],
    [],
  ])
})

test('a sweep reads a bounded number of workspaces, and each has its turn', async () => {
  const asked: string[] = []
  const watch = new ModuleWatch(async (tenantId) => {
    asked.push(tenantId)
    return new Set()
  })
  const all = Array.from({ length: 120 }, (_, n) => lister(String(n).padStart(3, '0'), []).one)
  const counts: number[] = []
  for (let sweeps = 0; sweeps < 3; sweeps++) {
    await watch.sweep([...all, ...all])
    counts.push(asked.length)
  }
  expect(counts).toEqual([50, 100, 150])
  expect(new Set(asked).size).toBe(120)
})

test('two sweeps at once tell of a change once, and one that fails leaves the next free to run', async () => {
  let read = Promise.withResolvers<ReadonlySet<string>>()
  const watch = new ModuleWatch(() => read.promise)
  const { one, told } = lister('a', [])
  const both = Promise.all([watch.sweep([one]), watch.sweep([one])])
  read.resolve(new Set(['agent']))
  await both
  expect(told).toEqual([['agent']])
  read = Promise.withResolvers()
  read.reject(new Error('the database is away'))
  await expect(watch.sweep([one])).rejects.toThrow('away')
  read = Promise.withResolvers()
  read.resolve(new Set(['agent']))
  await watch.sweep([one])
  expect(told).toHaveLength(2)
})
