/** Until when the reads of a tab wait that moves the session to another workspace. */
import { expect, test } from 'bun:test'
import { createLeaving } from '#src/console/api/leaving'

const newTab = () => {
  const shown: (() => void)[] = []
  const timers: { ms: number; ring(): void }[] = []
  const left: string[] = []
  const tab = createLeaving({
    leaveFor: (path) => void left.push(path),
    onShown: (stay) => void shown.push(stay),
    after: (ms, ring) => void timers.push({ ms, ring }),
  })
  return { ...tab, shown, timers, left }
}
const move = async () => {}

test('reads wait for the next page; ten seconds later they go on, as when the page is shown again', async () => {
  for (const how of ['timers', 'shown'] as const) {
    const { leaveWith, whileLeaving, left, timers, shown } = newTab()
    expect(whileLeaving()).toBeUndefined()
    await leaveWith(move, '/inbox')
    expect(left).toEqual(['/inbox'])
    const waiting = whileLeaving()
    expect(waiting).toBeInstanceOf(Promise)
    if (how === 'shown') shown[0]!()
    else {
      expect(timers[0]!.ms).toBe(10_000)
      timers[0]!.ring()
    }
    await waiting
    expect(whileLeaving()).toBeUndefined()
  }
})

test('after a move that failed they go on at once', async () => {
  const { leaveWith, whileLeaving, left } = newTab()
  const moved = Promise.withResolvers<void>()
  const leaving = leaveWith(() => moved.promise, '/inbox')
  const waiting = whileLeaving()
  moved.reject(new Error('refused'))
  await expect(leaving).rejects.toThrow('refused')
  await waiting
  expect([whileLeaving(), left]).toEqual([undefined, []])
})

test('the end of one move does not end the wait for the next', async () => {
  const { leaveWith, whileLeaving, timers } = newTab()
  await leaveWith(move, '/inbox')
  const first = whileLeaving()
  await leaveWith(move, '/posts')
  const second = whileLeaving()
  timers[0]!.ring()
  await first
  expect(whileLeaving()).toBe(second!)
})
