/** When a message that its provider does not give is asked for again. */
import { expect, test } from 'bun:test'
import { isTooOld, nextFetch } from '#domain/agent/channel/message'

const CAME = new Date('2026-01-01T00:00:00Z')

/** The tries in seconds after it came, of which each fails at once. */
const triesOf = (hasText: boolean): number[] => {
  const tries = [0]
  let now: Date | undefined = CAME
  for (let failures = 1; now; failures++) {
    now = nextFetch({ created_at: CAME }, { failures, hasText, now })
    if (now) tries.push((now.getTime() - CAME.getTime()) / 1_000)
  }
  return tries
}

test('without its text it is asked for soon, and then hourly for a day', () => {
  const tries = triesOf(false)
  expect(tries.slice(0, 7)).toEqual([0, 2, 12, 72, 372, 372 + 3_600, 372 + 7_200])
  expect([tries.length, tries.at(-1)]).toEqual([28, 372 + 23 * 3_600])
})

test('with its text it does not wait long for a file', () => {
  expect(triesOf(true)).toEqual([0, 2, 12, 72, 372])
})

test('it is too old after a day', () => {
  const after = (ms: number) => isTooOld({ created_at: CAME }, new Date(CAME.getTime() + ms))
  expect([after(86_399_999), after(86_400_000)]).toEqual([false, true])
})
