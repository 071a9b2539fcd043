/** Random stories about posting, held against the state table and the record of the network. `SEED` and `RUNS` set which and how many. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { stateName, stateNames } from '#test/domain/records'
import { arbitraries, bodies, ids } from './posting-commands.ts'
import { endsWell, verify } from './posting-rules.ts'
import type { Model } from './posting-steps.ts'
import { newWorld, type World } from './posting-world.ts'

const story = fc.commands(arbitraries, { maxCommands: 80, size: 'max' })

const tell = (commands: Iterable<fc.Command<Model, World>>, watch?: (world: World) => void): void => {
  const world = newWorld(bodies)
  const model: Model = new Map(ids.map((id) => [id, 'drafted']))
  fc.modelRun(() => ({ model, real: world }), commands)
  verify(model, world)
  watch?.(world)
  endsWell(world)
}

test('whatever happens, nothing is sent twice or unapproved, what is posted is on the network, and every item can be settled', () => {
  const { SEED, RUNS } = process.env
  fc.assert(
    fc.property(story, (commands) => tell(commands)),
    { numRuns: Number(RUNS ?? 1_000), ...(SEED ? { seed: Number(SEED) } : {}) },
  )
})

test('the stories reach every state of items and attempts, and every kind of event', () => {
  const [states, events, attempts] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const watch = (world: World) => {
    for (const item of world.items.values()) states.add(stateName(item))
    for (const { type } of world.events) events.add(type)
    for (const { state } of world.attempts.values()) attempts.add(state)
  }
  fc.assert(
    fc.property(story, (commands) => tell(commands, watch)),
    { numRuns: 200, seed: 1 },
  )
  expect([...states].sort()).toEqual([...stateNames].sort())
  expect([...attempts].sort()).toEqual(['doubt', 'failed', 'open', 'posted', 'review', 'superseded', 'unsent'])
  expect([...events].sort()).toEqual(['growth.approval.requested', 'growth.item.failed', 'growth.item.posted', 'growth.item.returned'])
})
