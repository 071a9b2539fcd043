import { expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { supervise } from '#postgres/supervise'

/** A database that runs until the test ends it. */
const mortal = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { ended: promise, die: resolve, stop: async () => resolve() }
}

test('a database that keeps failing to start is retried, and once it runs is left alone until it ends', async () => {
  const [first, second] = [mortal(), mortal()]
  const started = Promise.withResolvers<void>()
  let starts = 0
  const restart = async () => {
    if (++starts <= 12) throw new Error('no space left on device')
    started.resolve()
    return second
  }
  await using _ = supervise(first, {
    data: '/',
    restart,
    log: createLog('silent'),
    longestPauseMs: 1,
  })
  first.die()
  await started.promise
  expect(starts).toBe(13)
})

test('stopping supervision while the database is down ends the retries', async () => {
  const first = mortal()
  const tried = Promise.withResolvers<void>()
  let starts = 0
  const restart = async () => {
    starts++
    tried.resolve()
    throw new Error('not yet')
  }
  const supervised = supervise(first, {
    data: '/',
    restart,
    log: createLog('silent'),
    longestPauseMs: 1,
  })
  first.die()
  await tried.promise
  await supervised[Symbol.asyncDispose]()
  const before = starts
  await Bun.sleep(20)
  expect(starts).toBe(before)
})
