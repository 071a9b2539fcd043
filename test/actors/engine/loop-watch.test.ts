import { expect, test } from 'bun:test'
import { newLoopWatch } from '#actors/engine/loop-watch'

test('a busy spell is blamed on what was there then, and on nothing that began after it', () => {
  let now = 0
  const { tick, busyIn } = newLoopWatch(() => now)
  const goesOn = (ms: number) => {
    now += ms
    tick()
  }
  goesOn(100)
  goesOn(130)
  expect(busyIn(0)).toBeLessThan(100)
  now += 3_000
  // Not noticed yet.
  expect(busyIn(230)).toBe(2_900)
  expect(busyIn(now)).toBe(0)
  tick()
  expect([busyIn(230), busyIn(now - 10), busyIn(0, 230)]).toEqual([2_900, 10, 0])
  // Short ones do not drive out a long one.
  for (let spell = 0; spell < 100; spell++) goesOn(400)
  expect(busyIn(230)).toBe(2_900)
})
