import { expect, test } from 'bun:test'
import { overdueWords } from '#src/console/frame/overdue-words'

test.each([
  [0, 0, 'Scheduled posts go out again. None fell due meanwhile.'],
  [1, 0, '1 post that fell due meanwhile goes out at once.'],
  [
    0,
    2,
    'Scheduled posts go out again. 2 posts that fell due meanwhile are too late: they stay approved, without a time.',
  ],
  [
    3,
    1,
    '3 posts that fell due meanwhile go out at once. 1 post that fell due meanwhile is too late: it stays approved, without a time.',
  ],
])('before resuming, of %p posts that go out and %p that do not', (sent, skipped, words) => {
  expect(overdueWords({ sent, skipped })).toBe(words)
})
