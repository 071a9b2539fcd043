import { expect, test } from 'bun:test'
import { kinds } from '../generations.ts'
import { runModel } from './model.harness.ts'

test('while the provider misbehaves and servers are killed and stopped, each generation ends once, and only what was delivered is spent', async () => {
  const options = {
    generations: 80,
    tenants: 8,
    servers: 2,
    seed: 5,
    restartMs: 300,
    silentMs: 300,
  }
  const { counts, broken } = await runModel(options)
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ asked: 80, spent: counts.items })
  for (const { name } of kinds) expect(Number(counts[`${name}_ready`])).toBeGreaterThan(0)
}, 120_000)
