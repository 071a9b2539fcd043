import { expect, test } from 'bun:test'
import { use } from '#test/support/use'
import { openSandboxWorld } from './sandbox-world.ts'

const world = use(openSandboxWorld)

test('the sandbox promises how late it can apply a post that it answered with an error, unless posts may be slow', () => {
  const promise = (faults: string) => {
    const { maxApplyMs, completeReadBack } = world.sandbox(faults).limits
    return [maxApplyMs, completeReadBack]
  }
  expect(promise('500=0.2,applied502=0.2,drop=0.2')).toEqual([1_000, true])
  expect(promise('500=0.2,lag=2s')).toEqual([3_000, true])
  expect(promise('500=0.2,slow=0.01,lag=2s')).toEqual([null, false])
})
