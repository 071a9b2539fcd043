/** What a process keeps in memory does not grow with what it has done. */
import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { newStory } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

const app = useApp()

const WORKSPACES = 20
const CALLERS = 16

/** Bytes of living objects. */
const living = (): number => {
  for (let n = 0; n < 3; n++) Bun.gc(true)
  return heapStats().heapSize
}

test('after 10,000 commands, at most a tenth more is alive than after 1,000', async () => {
  const stories = await Promise.all(Array.from({ length: WORKSPACES }, () => newStory(app)))
  let sent = 0
  const upTo = async (count: number): Promise<void> => {
    const caller = async (): Promise<void> => {
      while (sent < count) {
        const n = sent++
        const { status } = await stories[n % WORKSPACES]!.send('PUT', 'profile', {
          body: { goal: `goal ${n}` },
          headers: { 'idempotency-key': `command-${n}` },
        })
        expect(status).toBe(200)
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
  }
  await upTo(1_000)
  const before = living()
  await upTo(10_000)
  expect(living()).toBeLessThan(before * 1.1)
})
