import { expect, test } from 'bun:test'
import { renewAt, retryAt } from '#domain/growth/sending/renewal'
import { at, HOUR, MINUTE } from '#test/domain/records'

test('credentials are renewed after half of their time, and never more often than each minute', () => {
  expect(renewAt(at(), at(2 * HOUR))).toEqual(at(HOUR))
  expect(renewAt(at(), at(30_000))).toEqual(at(MINUTE))
  // Their end has passed while nothing ran.
  expect(renewAt(at(), at(-HOUR))).toEqual(at(MINUTE))
})

test('without an answer it asks again, ever later, and as late as the network wants', () => {
  const waits = [1, 2, 3, 4, 5, 50].map((failures) => +retryAt(at(), failures) - +at())
  expect(waits).toEqual([5_000, 15_000, MINUTE, 5 * MINUTE, 10 * MINUTE, 10 * MINUTE])
  expect(retryAt(at(), 1, HOUR)).toEqual(at(HOUR))
  expect(retryAt(at(), 5, 1_000)).toEqual(at(10 * MINUTE))
})
