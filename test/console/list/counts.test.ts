import { expect, test } from 'bun:test'
import { inboxLimits } from '#contract/inbox-limits'
import { isMany, waitingWords } from '#src/console/parts/many'

const { counted } = inboxLimits

test.each([
  [0, '0', false],
  [counted - 1, String(counted - 1), false],
  [counted, `${counted}+`, true],
  // Of several kinds together.
  [counted + 5, `${counted}+`, true],
])('where %d wait, it says %s', (count, says, many) => {
  expect(waitingWords(count)).toBe(says)
  expect(isMany(count)).toBe(many)
})
