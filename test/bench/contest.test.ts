import { expect, test } from 'bun:test'
import { ItemSchema } from '#contract/records/growth/item'
import { figuresOf, peerOf, type Turn } from './contest.ts'
import { BESIDE, queries } from './peer-sql.ts'

/** Times in milliseconds. */
const turn = (perSecond: number, count: number, server: number, database: number): Turn => ({
  perSecond,
  count,
  server,
  database,
  p50: 1,
  p99: 2,
  bytes: 300,
  statuses: {},
  cpuMs: 0,
})

test('a rate is the median of the turns, and processor time is shared among all requests', () => {
  const { perSecond, serverUs, postgresUs } = figuresOf([
    turn(100, 100, 10, 5),
    turn(300, 300, 20, 15),
    turn(900, 600, 20, 30),
  ])
  expect(perSecond).toBe(300)
  expect(serverUs).toBe(50)
  expect(postgresUs).toBe(50)
})

test('a peer that is twice as fast and takes half the processor time gives ratios of a half', () => {
  const ours = [turn(100, 100, 10, 10), turn(200, 100, 10, 10)]
  const theirs = [turn(200, 100, 5, 5), turn(400, 100, 5, 5)]
  expect(peerOf('bare', ours, theirs)).toMatchObject({ name: 'bare', ratio: 0.5, costRatio: 0.5 })
})

test('a rate is compared within its round, so that a slow moment of the machine affects both', () => {
  const ours = [turn(100, 1, 1, 1), turn(10, 1, 1, 1), turn(100, 1, 1, 1)]
  const theirs = [turn(200, 1, 1, 1), turn(20, 1, 1, 1), turn(800, 1, 1, 1)]
  expect(peerOf('bare', ours, theirs).ratio).toBe(0.5)
})

test('a peer that does not use the database is still compared by the time of both', () => {
  expect(peerOf('bare', [turn(1, 1, 3, 1)], [turn(1, 1, 1, 0)]).costRatio).toBe(0.25)
})

test('the peers read whatever our answer says of an item', () => {
  const said = `${queries.items} source ${Object.keys(BESIDE)}`
  const missing = Object.keys(ItemSchema.properties).filter(
    (field) => !new RegExp(`\\b${field}\\b`).test(said),
  )
  expect(missing).toEqual([])
})
