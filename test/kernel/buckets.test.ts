import { describe, expect, test } from 'bun:test'
import { Buckets, type Rate } from '#kernel/buckets'

const rate: Rate = { perSecond: 10, burst: 30 }

const bucketsAt = (most = 1_000) => {
  const time = { now: 5_000 }
  return { time, buckets: new Buckets(() => time.now, most) }
}

const drain = (buckets: Buckets, name: string): number => {
  let taken = 0
  while (buckets.wait(name, rate) === 0) {
    buckets.take(name, rate)
    taken++
  }
  return taken
}

describe('a bucket', () => {
  test('grants its burst at once, then its rate, and never fills beyond its burst', () => {
    const { time, buckets } = bucketsAt()
    expect([drain(buckets, 'a'), buckets.wait('a', rate)]).toEqual([30, 0.1])
    time.now += 1_000
    expect(drain(buckets, 'a')).toBe(10)
    time.now += 3_600_000
    expect(drain(buckets, 'a')).toBe(30)
  })

  test('keeps fractions: frequent requests do not stop it from filling', () => {
    const { time, buckets } = bucketsAt()
    drain(buckets, 'a')
    let taken = 0
    for (let i = 0; i < 1_000; i++) {
      time.now += 7
      taken += drain(buckets, 'a')
    }
    expect(taken).toBe(70)
  })

  test('says when it will have the amount, and treats more than its burst as its burst', () => {
    const { time, buckets } = bucketsAt()
    drain(buckets, 'a')
    expect([buckets.wait('a', rate, 5), buckets.wait('a', rate, 1_000)]).toEqual([0.5, 3])
    time.now += 3_000
    expect(buckets.wait('a', rate, 1_000)).toBe(0)
    buckets.take('a', rate, 1_000)
    expect(buckets.left('a', rate)).toBe(0)
  })

  test('uses the rate passed with each call', () => {
    const { time, buckets } = bucketsAt()
    drain(buckets, 'a')
    time.now += 1_000
    expect([buckets.left('a', rate), buckets.left('a', { perSecond: 100, burst: 50 })]).toEqual([
      10, 50,
    ])
  })

  test('is independent of other buckets', () => {
    const { buckets } = bucketsAt()
    drain(buckets, 'a')
    expect(buckets.left('b', rate)).toBe(30)
  })
})

describe('memory', () => {
  test('full buckets are forgotten while others are in use', () => {
    const { time, buckets } = bucketsAt()
    for (let i = 0; i < 100; i++) buckets.take(`idle ${i}`, rate)
    expect(buckets.size).toBe(100)
    time.now += 101
    for (let i = 0; i < 101; i++) buckets.take('busy', rate)
    expect(buckets.size).toBe(1)
  })

  test('the number of buckets is bounded, and the least recently used go first', () => {
    const { buckets } = bucketsAt(10)
    for (let i = 0; i < 1_000; i++) buckets.take(`n${i}`, rate)
    expect(buckets.size).toBe(10)
    expect([buckets.left('n999', rate), buckets.left('n989', rate)]).toEqual([29, 30])
  })
})
