import { expect, test } from 'bun:test'
import { Waiters } from '#actors/engine/waiters'
import { AppError } from '#kernel/errors'
import { manualClock } from '#test/support/actors/manual-clock'

const WITHIN_MS = 20_000
const answer = { status: 200, body: '{}' }

const waiting = () => {
  const clock = manualClock()
  return { clock, waiters: new Waiters(clock, WITHIN_MS) }
}

test('a caller gets the answer for its record, and no timer stays behind', async () => {
  const { clock, waiters } = waiting()
  const one = waiters.wait('one')
  const other = waiters.wait('other')
  waiters.settle('one', answer)
  expect(await one).toEqual(answer)
  waiters.settle('other', { ...answer, status: 202 })
  expect(await other).toMatchObject({ status: 202 })
  expect(clock.pending).toBe(0)
})

test('a caller whose answer takes too long gets the late answer', async () => {
  const { clock, waiters } = waiting()
  const got: unknown[] = []
  void waiters.wait('one').then((value) => got.push(value))
  await clock.advance(WITHIN_MS - 1)
  expect(got).toEqual([])
  await clock.advance(1)
  expect(got).toEqual(['late'])
})

test('an error is thrown to the caller', async () => {
  const { waiters } = waiting()
  const refused = waiters.wait('one')
  waiters.settle('one', new AppError('network_error', 'refused'))
  await expect(refused).rejects.toThrow('network_error:refused')
})

test('an answer without a waiting caller is dropped', async () => {
  const { clock, waiters } = waiting()
  waiters.settle('one', answer)
  const later = waiters.wait('one')
  await clock.advance(WITHIN_MS)
  expect(await later).toBe('late')
})

test('two callers waiting for one record both get the answer', async () => {
  const { clock, waiters } = waiting()
  const both = [waiters.wait('one'), waiters.wait('one')]
  waiters.settle('one', answer)
  expect(
    await Promise.race([Promise.all(both), clock.advance(WITHIN_MS).then(() => 'hung')]),
  ).toEqual([answer, answer])
  expect(clock.pending).toBe(0)
})

test('each of two callers has its own deadline', async () => {
  const { clock, waiters } = waiting()
  const got: string[] = []
  void waiters.wait('one').then((value) => got.push(`first ${value}`))
  await clock.advance(5_000)
  void waiters.wait('one').then((value) => got.push(`second ${value}`))
  await clock.advance(WITHIN_MS - 5_000)
  expect(got).toEqual(['first late'])
  await clock.advance(5_000)
  expect(got).toEqual(['first late', 'second late'])
})

test('a caller can wait less than the process lets it, or not at all', async () => {
  const { clock, waiters } = waiting()
  const got: string[] = []
  for (const [who, ms] of [
    ['usual', undefined],
    ['short', 1_000],
    ['none', 0],
  ] as const)
    void waiters.wait('one', ms).then((value) => got.push(`${who} ${value}`))
  await clock.advance(0)
  expect(got).toEqual(['none late'])
  await clock.advance(1_000)
  expect(got).toEqual(['none late', 'short late'])
  expect(waiters.has('one')).toBe(true)
})

test('all callers get an error when the tenant is lost, and the current record when it stops', async () => {
  const { clock, waiters } = waiting()
  const lost = [waiters.wait('one'), waiters.wait('other')]
  waiters.rejectAll(new AppError('unavailable'))
  for (const caller of lost) await expect(caller).rejects.toMatchObject({ code: 'unavailable' })
  const stopped = [waiters.wait('one'), waiters.wait('other')]
  waiters.allLate()
  expect(await Promise.all(stopped)).toEqual(['late', 'late'])
  expect(clock.pending).toBe(0)
})
