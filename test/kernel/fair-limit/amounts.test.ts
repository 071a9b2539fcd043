import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairLimit, type Limits, type Reservation } from '#kernel/fair-limit'
import { manualClock, settled } from '#test/support/actors/manual-clock'

const open = (overrides: Partial<Limits> = {}) => {
  const clock = manualClock()
  return {
    clock,
    budget: new FairLimit(
      { total: 10, share: 6, waiters: 100, withinMs: 5_000, name: 'bodies', ...overrides },
      clock,
    ),
  }
}

/** Reservations by the name that the test gave them, in the order in which they were granted. */
const watch = (budget: FairLimit) => {
  const held = new Map<string, Reservation>()
  const refused: string[] = []
  const reserve = (party: string, amount: number, name = party, signal?: AbortSignal) => {
    const keep = (one: Reservation) => void held.set(name, one)
    void (async () =>
      keep(
        await budget.reserve(party, amount, () => signal ?? new AbortController().signal),
      ))().catch((cause) => {
      refused.push(`${name}: ${cause.code ?? cause}`)
    })
    return settled()
  }
  const release = (name: string) => {
    held.get(name)![Symbol.dispose]()
    held.delete(name)
    return settled()
  }
  return { held, refused, reserve, release }
}

test('an amount that fits is reserved at once, in the same tick', () => {
  const { budget } = open()
  const reservation = budget.reserve('a', 6)
  expect(reservation).not.toBeInstanceOf(Promise)
  expect(budget.used).toBe(6)
})

test('a party never exceeds its share, nor all parties the total, and everything is given back', async () => {
  const requests = fc.array(
    fc.record({ party: fc.constantFrom('a', 'b', 'c'), amount: fc.integer({ min: 0, max: 8 }) }),
    { maxLength: 40 },
  )
  await fc.assert(
    fc.asyncProperty(requests, async (all) => {
      const { budget } = open({ waiters: 100 })
      const used: Record<string, number> = { a: 0, b: 0, c: 0 }
      let served = 0
      const one = async ({ party, amount }: { party: string; amount: number }) => {
        const room = Math.min(amount, 6)
        const reservation = await budget.reserve(party, amount)
        used[party]! += room
        expect(used[party]).toBeLessThanOrEqual(6)
        expect(used.a! + used.b! + used.c!).toBeLessThanOrEqual(10)
        await settled()
        used[party]! -= room
        served++
        reservation[Symbol.dispose]()
      }
      const results = await Promise.allSettled(all.map(one))
      const refused = results.filter(({ status }) => status === 'rejected').length
      expect(served + refused).toBe(all.length)
      expect([budget.used, budget.waiters]).toEqual([0, 0])
    }),
    { numRuns: 60 },
  )
})

test('a party at its share does not hold up another', async () => {
  const { held, reserve } = watch(open().budget)
  await reserve('flood', 6, 'first')
  await reserve('flood', 6, 'second')
  await reserve('other', 4)
  expect([...held.keys()]).toEqual(['first', 'other'])
})

test('parties are served in turn, each in its own order', async () => {
  const { budget } = open({ total: 3, share: 3 })
  const { held, reserve, release } = watch(budget)
  await reserve('z', 3)
  await reserve('a', 1, 'a1')
  await reserve('a', 1, 'a2')
  expect(budget.waiters).toBe(2)
  await reserve('b', 1, 'b1')
  held.get('z')!.shrink(1)
  await settled()
  expect([...held.keys()]).toEqual(['z', 'a1', 'b1'])
  await release('b1')
  expect([...held.keys()]).toEqual(['z', 'a1', 'a2'])
})

test('small amounts do not overtake a large one for ever', async () => {
  const { held, reserve, release } = watch(open().budget)
  await reserve('a', 6, 'a')
  await reserve('b', 3, 'b')
  await reserve('large', 6)
  await reserve('small', 1)
  expect([...held.keys()]).toEqual(['a', 'b'])
  await release('a')
  expect([...held.keys()]).toEqual(['b', 'large', 'small'])
})

test('a reservation that waits too long is refused with 503 and Retry-After, and leaves the queue', async () => {
  const { budget, clock } = open()
  const { held, refused, reserve, release } = watch(budget)
  await reserve('a', 6, 'first')
  await reserve('a', 6, 'second')
  await clock.advance(4_999)
  expect([budget.waiters, refused]).toEqual([1, []])
  await clock.advance(1)
  expect([budget.waiters, refused]).toEqual([0, ['second: unavailable']])
  await release('first')
  expect([budget.used, held.size, clock.pending]).toEqual([0, 0, 0])
})

test('the queue is bounded: one more is refused at once', async () => {
  const { budget } = open({ waiters: 2 })
  const { refused, reserve } = watch(budget)
  for (const name of ['held', 'one', 'two', 'three'])
    await reserve('a', name === 'held' ? 6 : 1, name)
  expect([budget.waiters, refused]).toEqual([2, ['three: unavailable']])
})

test('waiting amounts are bounded like those in use, for each party and in all', async () => {
  const { budget } = open()
  const { refused, reserve } = watch(budget)
  await reserve('a', 6, 'used')
  await reserve('b', 4, 'used too')
  for (const name of ['a1', 'a2']) await reserve('a', 6, name)
  for (const name of ['b1', 'b2']) await reserve('b', 4, name)
  expect([budget.waiters, refused]).toEqual([2, ['a2: unavailable', 'b2: unavailable']])
})

describe('a full queue', () => {
  test('has a place for a party that waits for less than another, whose latest reservation is refused', async () => {
    const { budget } = open({ waiters: 3 })
    const { held, refused, reserve, release } = watch(budget)
    await reserve('flood', 6, 'used')
    for (const name of ['first', 'second', 'third']) await reserve('flood', 1, name)
    await reserve('full', 4)
    await reserve('other', 1)
    expect([budget.waiters, refused]).toEqual([3, ['third: unavailable']])
    await release('used')
    expect([...held.keys()]).toEqual(['full', 'first', 'other', 'second'])
  })

  test('has it also when amounts fill it, and refuses no more than it must', async () => {
    const { budget } = open({ total: 12 })
    const { refused, reserve } = watch(budget)
    for (const name of ['a', 'b']) await reserve(name, 6, `${name} used`)
    for (const name of ['a1', 'a2', 'a3']) await reserve('a', 2, name)
    for (const name of ['b1', 'b2', 'b3']) await reserve('b', 2, name)
    await reserve('c', 3, 'c1')
    expect([budget.waiters, refused]).toEqual([5, ['a3: unavailable', 'b3: unavailable']])
  })

  test('has none for a party that would wait for as much as any other', async () => {
    const { budget } = open({ waiters: 2 })
    const { refused, reserve } = watch(budget)
    await reserve('a', 6, 'a used')
    await reserve('b', 4, 'b used')
    for (const name of ['a', 'b', 'c']) await reserve(name, 1, `${name} waits`)
    expect([budget.waiters, refused]).toEqual([2, ['c waits: unavailable']])
  })
})

test('a caller that stops waiting makes room for the next', async () => {
  const { budget } = open()
  const { held, refused, reserve } = watch(budget)
  const leaving = new AbortController()
  await reserve('a', 6)
  await reserve('large', 6, 'large', leaving.signal)
  await reserve('small', 4)
  expect([...held.keys()]).toEqual(['a'])
  leaving.abort('gone')
  await settled()
  expect([[...held.keys()], refused]).toEqual([['a', 'small'], ['large: gone']])
})

test('a reservation that shrinks gives the rest back at once, and never grows', async () => {
  const { budget } = open()
  const { held, reserve, release } = watch(budget)
  await reserve('a', 6)
  await reserve('a', 4, 'next')
  expect([...held.keys()]).toEqual(['a'])
  held.get('a')!.shrink(2)
  held.get('a')!.shrink(5)
  await settled()
  expect([[...held.keys()], budget.used]).toEqual([['a', 'next'], 6])
  for (const name of ['a', 'next']) await release(name)
  expect(budget.used).toBe(0)
})

test('releasing twice releases once', async () => {
  const { budget } = open()
  const first = await budget.reserve('a', 3)
  await budget.reserve('a', 3)
  for (let n = 0; n < 2; n++) first[Symbol.dispose]()
  expect(budget.used).toBe(3)
})

test('more than a share counts as one share', async () => {
  const { budget } = open()
  await budget.reserve('a', 9)
  expect(budget.used).toBe(6)
})
