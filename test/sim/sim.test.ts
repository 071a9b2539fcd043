import { expect, test } from 'bun:test'
import { run } from './programs.ts'
import { shortest } from './shorten.ts'

/** Histories that have broken a rule once, and what must be true of each. */
const histories: Record<string, object[]> = {
  'a post that is claimed again in the group that settled its first claim keeps the account to itself':
    [
      { do: 'approve', item: 'item-3' },
      { do: 'schedule', item: 'item-3', inMs: 0, onMissed: 'post' },
      { do: 'wait', ms: 11_000 },
      { do: 'burst', inMs: 0, onMissed: 'post' },
    ],
  'a claim that is not heard of is settled, though the outcome in the same commit is brought home only after more failures':
    [
      { do: 'approve', item: 'item-3' },
      { do: 'schedule', item: 'item-3', inMs: 0, onMissed: 'post' },
      { do: 'wait', ms: 11_000 },
      { do: 'break database', letters: ['after', 'no', 'before', 'no', 'before', 'no', 'before'] },
      { do: 'send', fate: 'posted', which: 'first' },
      { do: 'wait', ms: 70_000 },
    ],
  'disconnecting does not settle once more what was called off already in a commit that was not heard of':
    [
      { do: 'burst', inMs: 600_000, onMissed: 'post' },
      { do: 'wait', ms: 3_600_000 },
      { do: 'send', fate: 'refused', which: 'all' },
      { do: 'post again', item: 'item-1' },
      { do: 'wait', ms: 11_000 },
      { do: 'break database', letters: ['after', 'before', 'no', 'after', 'after', 'no'] },
      { do: 'send', fate: 'refused', which: 'first' },
      { do: 'disconnect' },
    ],
  'two claims in one group do not take the same account': [
    { do: 'burst', inMs: 3_000, onMissed: 'post' },
    { do: 'stop', rush: true },
    { do: 'post', item: 'item-1' },
  ],
  'a person who has looked at a post in review is told again when another post of the same text turns up':
    [
      { do: 'approve', item: 'item-3' },
      { do: 'post', item: 'item-3' },
      { do: 'send', fate: '5xx, not posted', which: 'first' },
      { do: 'wait', ms: 300_000 },
      { do: 'post', item: 'item-3' },
      { do: 'send', fate: '5xx, posted late', which: 'first' },
      { do: 'wait', ms: 70_000 },
      { do: 'post by hand', account: 'one', body: 'Ship it. https://example.com/notes' },
      { do: 'wait', ms: 3_600_000 },
    ],
  'a post whose deletion was refused can be reopened': [
    { do: 'approve', item: 'item-2' },
    { do: 'post', item: 'item-2' },
    { do: 'send', fate: '5xx, not posted', which: 'first' },
    { do: 'wait', ms: 300_000 },
    { do: 'schedule', item: 'item-2', inMs: 0, onMissed: 'post' },
    { do: 'delete', item: 'item-2' },
    { do: 'reopen', item: 'item-2' },
  ],
}

test('no history breaks a rule again that has broken one before', async () => {
  const steps = Object.values(histories).flatMap((one) => ['--replay', JSON.stringify(one)])
  const { code, printed, complained } = await run('run', ...steps)
  const lines = Object.keys(histories).map((_, at) => `history ${at + 1} breaks no rule\n`)
  expect([code, printed, complained]).toEqual([0, lines.join(''), ''])
}, 120_000)

test('a failing history is cut down to the steps that it takes', async () => {
  const all = Array.from({ length: 40 }, (_, index) => index)
  const fails = async (some: readonly number[]) =>
    some.includes(3) && some.includes(17) && some.includes(38)
  expect(await shortest(all, fails)).toEqual([3, 17, 38])
  expect(await shortest([5], async (some) => some.includes(5))).toEqual([5])
})
