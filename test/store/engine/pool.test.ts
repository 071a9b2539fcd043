import { expect, test } from 'bun:test'
import type postgres from 'postgres'
import { openPool } from '#store/engine/pool'

/** A pool of fake connections that counts how often they were made and given up. */
const fakePool = () => {
  const counts = { made: 0, ended: 0 }
  const connect = () => {
    counts.made++
    return { end: async () => void counts.ended++ } as unknown as postgres.Sql
  }
  return { pool: openPool(connect), counts }
}

test('connections that stay silent after a query are given up once, and not again before the new ones answer', () => {
  const { pool, counts } = fakePool()
  pool.ask().answered()
  const before = pool.sql
  const [one, two] = [pool.ask(), pool.ask()]
  one.late()
  expect(pool.sql).not.toBe(before)
  two.late()
  pool.ask().late()
  expect(counts).toEqual({ made: 2, ended: 1 })
  pool.ask().answered()
  pool.ask().late()
  expect(counts).toEqual({ made: 3, ended: 2 })
})

test('one late answer does not condemn the connections while others are answered', () => {
  const { pool, counts } = fakePool()
  const slow = pool.ask()
  pool.ask().answered()
  slow.late()
  expect(counts).toEqual({ made: 1, ended: 0 })
})

test('an answer on an abandoned connection says nothing about the new ones', () => {
  const { pool, counts } = fakePool()
  pool.ask().answered()
  const [late, straggler] = [pool.ask(), pool.ask()]
  late.late()
  straggler.answered()
  pool.ask().late()
  expect(counts).toEqual({ made: 2, ended: 1 })
})
