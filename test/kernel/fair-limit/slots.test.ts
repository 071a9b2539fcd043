import { describe, expect, test } from 'bun:test'
import { FairLimit, type Holder } from '#kernel/fair-limit'

const LIMITS = { name: 'seats', share: 2, perWorkspace: 3, total: 5, retryAfter: 1 }

/** Holders that say when they have given up. */
const openSlots = (limits = LIMITS) => {
  const slots = new FairLimit(limits)
  const givenUp: string[] = []
  const take = (name: string, { workspace = name[0]! }: Pick<Holder, 'workspace'> = {}) =>
    slots.take({ party: name, workspace, giveUp: () => givenUp.push(name) })
  const fill = (names: string) => names.split(' ').map((name) => take(name))
  return { slots, take, fill, givenUp }
}
const full = 'rate_limited:seats'

describe('slots', () => {
  test('a party has only so many, and its workspace so many in all', () => {
    const { take, fill } = openSlots()
    fill('a1 a1')
    expect(() => take('a1')).toThrow(full)
    take('a2')
    expect(() => take('a3')).toThrow(full)
    take('b1')
  })

  test('when all are taken, the workspace with the most gives up its last one', () => {
    const { take, fill, givenUp } = openSlots()
    fill('a1 a2 a3 b1 b2')
    take('c1')
    expect(givenUp).toEqual(['a3'])
    expect(() => take('c2')).toThrow(full)
    expect(givenUp).toEqual(['a3'])
  })

  test('nobody loses one to a workspace that would then have as many', () => {
    const { take, fill, givenUp } = openSlots({ ...LIMITS, total: 4 })
    fill('a1 a2 b1 b2')
    expect(() => take('a3')).toThrow(full)
    expect(() => take('b3')).toThrow(full)
    take('c1')
    expect(givenUp).toEqual(['a2'])
  })

  test('a slot is free once it is released or given up, and once only', () => {
    const { take, fill } = openSlots()
    const [first, , third] = fill('a1 a2 a3 b1 b2')
    take('c1')
    for (let times = 0; times < 3; times++) third!()
    expect(() => take('c2')).toThrow(full)
    first!()
    first!()
    take('c2')
    expect(() => take('c3')).toThrow(full)
  })

  test('what cannot be given up is kept', () => {
    const { slots, take } = openSlots()
    for (const party of ['a1', 'a2', 'a3', 'b1', 'b2']) slots.take({ party, workspace: party[0]! })
    expect(() => take('c1')).toThrow(full)
  })
})
