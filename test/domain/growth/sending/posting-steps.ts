/** How a command is tried on the world: what it may change, and what must hold after it. */
import { expect } from 'bun:test'
import type fc from 'fast-check'
import { AppError } from '#kernel/errors'
import { type StateName, stateName } from '#test/domain/records'
import { type Command, transitions } from '#test/domain/transitions'
import { verify } from './posting-rules.ts'
import { accountFor, itemOf, type World } from './posting-world.ts'

/** The state each item should be in. */
export type Model = Map<string, StateName>
export type Step = fc.Command<Model, World>

const refusalOf = (act: () => void): string | undefined => {
  try {
    act()
  } catch (cause) {
    if (cause instanceof AppError) return cause.code
    throw cause
  }
}

/** A command of a person: the state table says whether it is refused, and what follows. */
export const person = (command: Command, id: string, act: (world: World) => void): Step => ({
  check: () => true,
  run(model, world) {
    const [cell, before] = [transitions[model.get(id)!][command], itemOf(world, id)]
    const refusal = refusalOf(() => act(world))
    const unreachable = command.startsWith('post') && cell !== '409' && accountFor(world, before.account_external_id) === null
    if (cell === '409') expect(refusal).toBe('conflict')
    else expect(refusal).toBe(unreachable ? 'x_not_connected' : undefined)
    if (refusal) expect(itemOf(world, id)).toBe(before)
    else model.set(id, cell as StateName)
    verify(model, world)
  },
  toString: () => `${command}(${id})`,
})

interface Happening {
  name: string
  possible?(world: World): boolean
  /** Does it, and gives the states that may follow, by item. */
  happen(world: World): Record<string, StateName[]>
}

/** Anything else that happens. */
export const machine = ({ name, possible = () => true, happen }: Happening): Step => ({
  check: () => true,
  run(model, world) {
    if (!possible(world)) return
    for (const [id, allowed] of Object.entries(happen(world))) {
      expect(allowed).toContain(stateName(itemOf(world, id)))
      model.set(id, stateName(itemOf(world, id)))
    }
    verify(model, world)
  },
  toString: () => name,
})
