import { expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { startCollecting } from '#server/collecting'
import { manualClock } from '#test/support/actors/manual-clock'

test('garbage is collected once after each load, when the process has rested for a period', async () => {
  const clock = manualClock()
  let [used, collections] = [0, 0]
  const collect = () => {
    collections++
    used += 400
  }
  const parts = { clock, log: createLog('silent'), everyMs: 10_000, usedMs: () => used, collect }
  const seen: number[] = []
  {
    using _collecting = startCollecting(parts)
    for (const worked of [9_000, 5_000, 200, 200, 0, 3_000, 1_500, 100, 100]) {
      used += worked
      await clock.advance(10_000)
      seen.push(collections)
    }
  }
  expect(seen).toEqual([0, 0, 1, 1, 1, 1, 1, 2, 2])
  expect(clock.pending).toBe(0)
})

test('garbage is collected under a load that grows, at most every five minutes', async () => {
  const clock = manualClock()
  let [used, mib, collections] = [0, 100, 0]
  const collect = () => {
    collections++
    mib = 110
  }
  const parts = {
    clock,
    log: createLog('silent'),
    everyMs: 60_000,
    usedMs: () => used,
    resident: () => mib,
    collect,
  }
  using _collecting = startCollecting(parts)
  const seen: number[] = []
  for (const grown of [40, 40, 0, 0, 0, 70, 0, 0, 0, 0, 20, 20, 20, 20, 0]) {
    used += 50_000
    mib += grown
    await clock.advance(60_000)
    seen.push(collections)
  }
  expect(seen).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3])
})

test('what a load has left is given back', async () => {
  const clock = manualClock()
  let used = 0
  using _collecting = startCollecting({
    clock,
    log: createLog('silent'),
    everyMs: 10,
    usedMs: () => used,
  })
  const registry = { freed: 0 }
  const finalizers = new FinalizationRegistry(() => registry.freed++)
  const load = () => {
    for (let n = 0; n < 100; n++) finalizers.register({ n, text: 'x'.repeat(1_000) }, n)
  }
  load()
  used = 0
  await clock.advance(10)
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(registry.freed).toBeGreaterThan(90)
})
