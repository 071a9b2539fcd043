import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairLimit } from '#kernel/fair-limit'

const open = (overrides: Partial<ConstructorParameters<typeof FairLimit>[0]> = {}) =>
  new FairLimit({ total: 2, bound: 100, withinMs: 5_000, name: 'connection', ...overrides })

/** A promise that the test resolves. */
const gate = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, end: resolve }
}

test('no more run at once than the limit, nor of a party than its share; each party keeps its order, and all run', async () => {
  const parties = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(
      parties,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      async (requests, limit, share) => {
        const fair = open({ total: limit, share: { alone: share, among: share } })
        const begun: Record<string, number[]> = {}
        const running: Record<string, number> = { a: 0, b: 0, c: 0 }
        let most = 0
        let mostOfOne = 0
        await Promise.all(
          requests.map((party, index) =>
            fair.run(party, async () => {
              begun[party] = [...(begun[party] ?? []), index]
              running[party]!++
              mostOfOne = Math.max(mostOfOne, running[party]!)
              most = Math.max(most, running.a! + running.b! + running.c!)
              await Promise.resolve()
              running[party]!--
            }),
          ),
        )
        expect(most).toBeLessThanOrEqual(limit)
        expect(mostOfOne).toBeLessThanOrEqual(share)
        expect(Object.values(begun).flat().length).toBe(requests.length)
        for (const order of Object.values(begun))
          expect(order).toEqual([...order].sort((x, y) => x - y))
      },
    ),
  )
})

test('a party that queues fifty runs does not hold up one that queues one', async () => {
  const limit = open({ total: 1 })
  const first = gate()
  const order: string[] = []
  const flood = Array.from({ length: 50 }, (_, index) =>
    limit.run('flood', async () => (index === 0 ? first.promise : void order.push('flood'))),
  )
  const single = limit.run('single', async () => void order.push('single'))
  first.end()
  await Promise.all([...flood, single])
  expect(order.indexOf('single')).toBeLessThanOrEqual(1)
})

test('slow work yields its place, continues, and returns its own result', async () => {
  const limit = open({ total: 1 })
  const slow = gate()
  const first = limit.yielding('slow', 1, () => slow.promise.then(() => 'late'))
  expect(await limit.run('other', async () => 'meanwhile')).toBe('meanwhile')
  slow.end()
  expect(await first).toBe('late')
})

test('work that fails before it yields fails, and frees its place', async () => {
  const limit = open({ total: 1 })
  await expect(
    limit.yielding('broken', 60_000, () => Promise.reject(new Error('broken'))),
  ).rejects.toThrow('broken')
  expect(await limit.run('other', async () => 'next')).toBe('next')
})

test('a party at its share leaves the rest to others at once', async () => {
  const limit = open({ total: 3, share: { alone: 2, among: 2 } })
  const held = gate()
  const flood = Array.from({ length: 5 }, () => limit.run('flood', () => held.promise))
  expect(await limit.run('single', async () => 'ran')).toBe('ran')
  held.end()
  await Promise.all(flood)
})

test("a party's share shrinks as soon as another party waits", async () => {
  const limit = open({ total: 4, share: { alone: 3, among: 1 } })
  const held = gate()
  const begun: string[] = []
  const start = (party: string, until: Promise<void>) =>
    limit.run(party, () => {
      begun.push(party)
      return until
    })
  const ends = Array.from({ length: 5 }, gate)
  const flood = ends.map(({ promise }) => start('flood', promise))
  expect(begun).toEqual(['flood', 'flood', 'flood'])
  const single = start('single', held.promise)
  ends[0]!.end()
  ends[1]!.end()
  await Promise.all(flood.slice(0, 2))
  expect(begun).toEqual(['flood', 'flood', 'flood', 'single'])
  held.end()
  for (const { end } of ends) end()
  await Promise.all([...flood, single])
  expect(begun).toHaveLength(6)
})

test('work that someone waits for goes first, and every fourth place goes to other work', async () => {
  const limit = open({ total: 1 })
  const first = gate()
  const order: string[] = []
  const note = (party: string, demand: 'asked' | 'unasked') =>
    limit.run(party, async () => void order.push(demand), demand)
  const running = limit.run('a', () => first.promise, 'unasked')
  const all = [1, 2, 3]
    .map((nth) => note(`unasked ${nth}`, 'unasked'))
    .concat([1, 2, 3, 4, 5].map((nth) => note(`asked ${nth}`, 'asked')))
  first.end()
  await Promise.all([running, ...all])
  expect(order).toEqual([
    'asked',
    'asked',
    'asked',
    'unasked',
    'asked',
    'asked',
    'unasked',
    'unasked',
  ])
})

test('hurried work goes first as soon as someone waits for it', async () => {
  const limit = open({ total: 1 })
  const first = gate()
  const order: string[] = []
  const note = (party: string, demand: 'asked' | 'unasked') =>
    limit.run(party, async () => void order.push(party), demand)
  const running = limit.run('a', () => first.promise)
  const all = [note('b', 'unasked'), note('c', 'unasked'), note('d', 'asked')]
  limit.hurry('c')
  first.end()
  await Promise.all([running, ...all])
  expect(order).toEqual(['d', 'c', 'b'])
})

test('a caller that waits too long is refused with 503, and leaves the queue', async () => {
  const limit = open({ total: 1, withinMs: 1 })
  const first = gate()
  const running = limit.run('a', () => first.promise)
  const late = await limit.run('b', async () => 'ran').catch((error) => error)
  expect(late).toMatchObject({ code: 'unavailable', retryAfter: 1 })
  first.end()
  await running
  expect(await limit.run('b', async () => 'ran')).toBe('ran')
})

test('all who wait too long are refused, also after some were, and one that was hurried', async () => {
  const limit = open({ total: 1, withinMs: 20 })
  const first = gate()
  const running = limit.run('a', () => first.promise)
  const waits = (party: string, demand: 'asked' | 'unasked') =>
    limit.run(party, async () => 'ran', demand).catch(({ code }) => code)
  const early = waits('b', 'unasked')
  await Bun.sleep(10)
  const others = [waits('b', 'asked'), waits('c', 'asked')]
  limit.hurry('b')
  expect(await Promise.all([early, ...others])).toEqual([
    'unavailable',
    'unavailable',
    'unavailable',
  ])
  expect(await waits('c', 'unasked')).toBe('unavailable')
  first.end()
  await running
  expect(await waits('b', 'asked')).toBe('ran')
})

test('a free place is taken without a promise, and one that is not free in the end', async () => {
  const limit = open({ total: 1 })
  expect(limit.enter('a')).toBeUndefined()
  const next = limit.enter('b')
  expect(next).toBeInstanceOf(Promise)
  limit.leave('a')
  await next
  expect(limit.enter('a')).toBeInstanceOf(Promise)
  limit.leave('b')
  limit.leave('a')
  expect(limit.enter('a')).toBeUndefined()
})

test("a party's queue is bounded", async () => {
  const limit = open({ total: 1, bound: 1 })
  const first = gate()
  const running = [limit.run('a', () => first.promise), limit.run('a', async () => {})]
  expect(await limit.run('a', async () => {}).catch((error) => error)).toMatchObject({
    code: 'rate_limited',
    detail: 'connection',
  })
  first.end()
  await Promise.all(running)
})

test('work that fails frees its place', async () => {
  const limit = open({ total: 1 })
  await expect(limit.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await limit.run('a', async () => 'ran')).toBe('ran')
})
