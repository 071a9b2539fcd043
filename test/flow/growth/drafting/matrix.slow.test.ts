/**
 * Every state of an item against everything that can be asked of it, over HTTP: of one item, and of
 * many where there is such an action.
 */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { testFailpoints } from '#test/support/actors/failpoints'
import { newStory, type Story } from '#test/support/growth/story'
import { type Unreliable, unreliable } from '#test/support/growth/unreliable'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'
import matrix from '../../../data/item-matrix.json'
import {
  cell,
  HELD_AT,
  itemIn,
  type Operation,
  operations,
  type State,
  states,
} from './item-cells.ts'

/** The doubt never gets as far as a read of the timeline. */
const times = { ...sendTimes, settleMs: 3_600_000 }
const points = testFailpoints()
const held = heldInEachTest()
const app = useApp({ overrides: { times, failpoints: points.at, drafter: held.drafter } })

let network: Unreliable
beforeAll(() => {
  network = unreliable(app)
})
afterEach(() => {
  for (const point of HELD_AT) points.release(point)
})

/** The rows of an operation, whose keys are states with the same outcome. */
const outcomesOf = (operation: Operation): [State, string][] =>
  Object.entries(matrix[operation]).flatMap(([words, line]) =>
    words.split(' ').map((state): [State, string] => [state as State, line]),
  )

const names = Object.keys(operations) as Operation[]

test('the table has each state once for each operation', () => {
  expect(Object.keys(matrix).sort()).toEqual([...names].sort())
  const all = Object.keys(states).sort()
  for (const operation of names)
    expect([
      operation,
      outcomesOf(operation)
        .map(([state]) => state)
        .sort(),
    ]).toEqual([operation, all] as never)
})

interface Arranged {
  story: Story
  id: string
}

const newIn = async (state: State): Promise<Arranged> => {
  const story = await newStory(app)
  return { story, id: await itemIn(story, state, { place: app, points, network }) }
}

/** By state: an item for all that leaves it as it is. */
const shared = new Map<State, Promise<Arranged>>()
const sharedIn = (state: State) => shared.getOrInsertComputed(state, () => newIn(state))

/**
 * Reads and refusals, of which `cell` sees that nothing was changed or told. What a failpoint holds
 * goes on after its test.
 */
const staysSo = (state: State, operation: Operation, line: string): boolean => {
  const asked = operations[operation]
  const isRead = 'method' in asked && asked.method === 'GET'
  return state !== 'claimed' && state !== 'sent' && (isRead || line.startsWith('4'))
}

describe.each(names)('%s', (operation) => {
  const expectLine = async (state: State, line: string, bulk: boolean) => {
    const { story, id } = await (staysSo(state, operation, line) ? sharedIn(state) : newIn(state))
    try {
      expect(await cell(story, app, { id, operation, bulk })).toBe(line)
    } catch (cause) {
      // The next cells are not to fail for this one.
      shared.delete(state)
      throw cause
    }
  }

  test.each(outcomesOf(operation))('an item that is %s: %s', (state, line) =>
    expectLine(state, line, false),
  )

  if ('bulk' in operations[operation])
    test.each(outcomesOf(operation))('among many, one that is %s: %s', (state, line) =>
      expectLine(state, line, true),
    )
})
