import { expect, test } from 'bun:test'
import { stateNames } from '#test/domain/records'
import { run } from './programs.ts'

const digestOf = (printed: string): string | undefined => /digest=(\w+) ok\n$/.exec(printed)?.[1]

test('random histories break no rule of posting, and go the same way in one process as in two', async () => {
  const histories = ['--histories', '400', '--seconds', '60', '--seed', '1']
  const [alone, shared] = await Promise.all([
    run('run', ...histories, '--workers', '1'),
    run('run', ...histories, '--workers', '2'),
  ])
  expect(alone.complained + shared.complained).toBe('')
  expect(alone.printed).toMatch(/\nsim: seed=1 workers=1 histories=400 sends=[1-9]\d* .* ok\n$/)
  expect(shared.printed).toMatch(/\nsim: seed=1 workers=2 histories=400 sends=[1-9]\d* .* ok\n$/)
  expect(digestOf(alone.printed)).toBe(digestOf(shared.printed)!)
  expect([alone.code, shared.code]).toEqual([0, 0])
  // They come through every state of items and attempts, and tell of all that there is to tell.
  const met = (group: string) =>
    (new RegExp(`^${group}: (.*)$`, 'm').exec(alone.printed)?.[1] ?? '')
      .replace(/=\d+/g, '')
      .split(' ')
  expect(met('item')).toEqual(stateNames.map((name) => name.replaceAll(' ', '_')).sort())
  expect(met('attempt')).toEqual([
    'doubt',
    'failed',
    'open',
    'posted',
    'returned',
    'review',
    'superseded',
    'unsent',
  ])
  expect(met('event')).toEqual([
    'growth.approval.requested',
    'growth.item.failed',
    'growth.item.posted',
    'growth.item.returned',
  ])
}, 120_000)

test('a mistake in the code under test is found', async () => {
  const { code, printed } = await run('mutation', '--only', 'doubt is sent again', '--seed', '1')
  expect(printed).toContain('after an attempt that ended as unsent')
  expect([code, printed]).toEqual([
    0,
    expect.stringMatching(/\nmutants: seed=1 mutants=1 survived=0 ok\n$/),
  ])
}, 120_000)
