/** Rounds of a job that bring nothing new. */
import { describe, expect, test } from 'bun:test'
import { jobLimits } from '#domain/agent/job/limits'
import { circlesNotice, idleRounds } from '#domain/agent/job/rounds'

type Head = Parameters<typeof idleRounds>[0][number]

const call = (
  round: number,
  name: string,
  args: string | null,
  more: Partial<Head> = {},
): Head => ({
  kind: 'tool',
  name,
  state: 'done',
  of_step: round,
  args_hash: args,
  result_hash: 'same',
  class: 'read',
  ...more,
})

describe('a round is idle', () => {
  test.each<[string, Head[], number]>([
    [
      'if its call was made before and gives the same',
      [call(1, 'list', 'a'), call(2, 'list', 'a'), call(3, 'list', 'a')],
      2,
    ],
    [
      'if its call is refused',
      [call(1, 'list', 'a'), call(2, 'list', 'a', { state: 'failed', result_hash: 'no' })],
      1,
    ],
    [
      'if its arguments cannot be read',
      [call(1, 'list', 'a'), call(2, 'list', null, { state: 'failed', result_hash: 'new' })],
      1,
    ],
    [
      'if it alternates',
      [call(1, 'list', 'a'), call(2, 'list', 'b'), call(3, 'list', 'a'), call(4, 'list', 'b')],
      2,
    ],
    [
      'if all its calls are',
      [call(1, 'list', 'a'), call(1, 'list', 'b'), call(2, 'list', 'b'), call(2, 'list', 'a')],
      1,
    ],
    [
      'again after one that was not',
      [call(1, 'list', 'a'), call(2, 'list', 'b'), call(3, 'list', 'a')],
      1,
    ],
  ])('%s', (_, heads, idle) => {
    expect(idleRounds(heads)).toBe(idle)
  })
})

describe('a round is not idle', () => {
  test.each<[string, Head[]]>([
    ['if nothing was called', []],
    ['with other arguments', [call(1, 'list', 'a'), call(2, 'list', 'b')]],
    ['with another tool', [call(1, 'list', 'a'), call(2, 'see', 'a')]],
    [
      'if what is polled has changed',
      [call(1, 'list', 'a'), call(2, 'list', 'a'), call(3, 'list', 'a', { result_hash: 'other' })],
    ],
    [
      'if a call that failed works now',
      [call(1, 'list', 'a', { state: 'failed' }), call(2, 'list', 'a', { result_hash: 'other' })],
    ],
    [
      'if a person has decided',
      [call(1, 'post', 'a'), call(2, 'post', 'a', { state: 'rejected' })],
    ],
    [
      'if it may have happened outside',
      [call(1, 'sms', 'a'), call(2, 'sms', 'a', { state: 'unknown' })],
    ],
    [
      'if one of its calls is new',
      [call(1, 'list', 'a'), call(2, 'list', 'a'), call(2, 'list', 'b')],
    ],
  ])('%s', (_, heads) => {
    expect(idleRounds(heads)).toBe(0)
  })
})

describe('looking for one thing after the other that is not there', () => {
  const looks = (count: number, from = 1) =>
    Array.from({ length: count }, (_, index) =>
      call(from + index, 'search', `word ${from + index}`),
    )

  test('is idle in the end', () => {
    expect(idleRounds(looks(6))).toBe(0)
    expect(idleRounds(looks(9))).toBe(jobLimits.idleRounds)
    expect(idleRounds(looks(10))).toBe(jobLimits.idleRounds + 1)
  })

  test('is not once something is found, done or refused', () => {
    const after = (one: Head) => idleRounds([...looks(8), one, ...looks(5, 20)])
    expect(after(call(9, 'search', 'it', { result_hash: 'found' }))).toBe(0)
    expect(after(call(9, 'note', 'it', { class: 'draft' }))).toBe(0)
    expect(after(call(9, 'search', 'it', { state: 'failed' }))).toBe(0)
  })

  test('changes are none, however alike their results', () => {
    expect(idleRounds(looks(20).map((head) => ({ ...head, class: 'draft' })))).toBe(0)
  })
})

test('the notice says what was done and found', () => {
  const heads = [
    call(1, 'list', 'a'),
    call(1, 'note', 'b', { class: 'draft' }),
    call(2, 'note', 'c', { class: 'draft' }),
    call(3, 'see', 'a'),
  ]
  const words = circlesNotice([
    ...heads,
    call(4, 'post', 'd', { class: 'commit', state: 'failed' }),
  ])
  expect(words).toContain('Done: note (2 times). Read: list, see.')
  expect(circlesNotice([call(1, 'list', 'a')])).toContain('Nothing was changed. Read: list.')
})
