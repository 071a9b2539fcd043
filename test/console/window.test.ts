/** Which rows of a long list are drawn. */
import { expect, test } from 'bun:test'
import { heightOf, linesOf, linesWithin, shiftOf } from '#src/console/inbox/window'

const heights = { row: 60, heading: 30 }

test('a group has one heading, and rows without one stand by themselves', () => {
  const lines = linesOf(['a', 'a', undefined, 'b'], heights)
  expect(lines.map(({ index, heading, top }) => [heading ?? index, top])).toEqual([
    ['a', 0],
    [0, 30],
    [1, 90],
    [2, 150],
    ['b', 210],
    [3, 240],
  ])
  expect([heightOf(lines), heightOf([])]).toEqual([300, 0])
})

test('of ten thousand rows, those on the screen and around it are drawn, wherever one has scrolled', () => {
  const lines = linesOf(
    Array.from({ length: 10_000 }, (_, index) => `${index >> 3}`),
    heights,
  )
  const total = heightOf(lines)
  for (let top = 0; top < total; top += 997) {
    const drawn = linesWithin(lines, { top, height: 800, beyond: 200 })
    expect(drawn.length).toBeLessThan(30)
    const [first, last] = [drawn[0]!, drawn.at(-1)!]
    expect(first.top).toBeLessThanOrEqual(Math.max(0, top))
    expect(last.top + last.height).toBeGreaterThanOrEqual(Math.min(total, top + 800))
  }
})

const rowsOf = (ids: string) => ({
  lines: linesOf(
    [...ids].map(() => undefined),
    heights,
  ),
  entries: [...ids].map((id) => ({ id })),
})

test.each([
  ['rows above the screen that go move it up', 'abcdef', 'cdef', 130, -120],
  ['rows that come above it move it down', 'cdef', 'xycdef', 10, 120],
  ['of a row that goes itself, the next one counts', 'abcdef', 'bdef', 130, -120],
  ['where nobody has scrolled, what is new comes onto the screen', 'abc', 'xabc', 0, 0],
  ['of what is gone as a whole, nothing moves', 'abc', 'xyz', 70, 0],
])('%s', (_, before, after, scrolled, shift) => {
  expect(shiftOf(rowsOf(before), rowsOf(after), scrolled)).toBe(shift)
})
