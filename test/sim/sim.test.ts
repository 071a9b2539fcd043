import { expect, test } from 'bun:test'
import { shortest } from './shorten.ts'

/** In a process of its own: the simulation puts other modules in the place of the store. */
const sim = async (...args: string[]) => {
  const child = Bun.spawn([process.execPath, '--no-orphans', 'test/sim/run.ts', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [printed, complained] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, printed, complained }
}

test('random histories break no rule of posting', async () => {
  const { code, printed, complained } = await sim('--histories', '400', '--seconds', '60', '--seed', '1')
  expect(complained).toBe('')
  expect(printed).toMatch(/^sim: seed=\d+ histories=400 .* sends=[1-9]\d* .* ok\n$/)
  expect(code).toBe(0)
}, 30_000)

test('a failing history is cut down to the steps that it takes', async () => {
  const all = Array.from({ length: 40 }, (_, index) => index)
  const fails = async (some: readonly number[]) => some.includes(3) && some.includes(17) && some.includes(38)
  expect(await shortest(all, fails)).toEqual([3, 17, 38])
  expect(await shortest([5], async (some) => some.includes(5))).toEqual([5])
})
