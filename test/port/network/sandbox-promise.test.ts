import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openSandboxWorld, type SandboxWorld } from './sandbox-world.ts'

let world: SandboxWorld
beforeAll(async () => {
  world = await openSandboxWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

test('it promises how late it applies what it answers with an error, unless posts may be slow', () => {
  const promise = (faults: string) => {
    const { maxApplyMs, completeReadBack } = world.sandbox(faults).limits
    return [maxApplyMs, completeReadBack]
  }
  expect(promise('500=0.2,applied502=0.2,drop=0.2')).toEqual([1_000, true])
  expect(promise('500=0.2,lag=2s')).toEqual([3_000, true])
  expect(promise('500=0.2,slow=0.01,lag=2s')).toEqual([null, false])
})
