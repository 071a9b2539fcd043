/** What an action of a history is, and the forms that most of them have. */
import type { AwaitedResult, CommandContext, HandlerResult } from '#ops/engine/call'
import { among, type Maker, type Next, type Step } from './history.ts'
import { ask } from './nodes.ts'
import { checkTooLate, recallable } from './taking-back.ts'
import { itemIds, type World } from './world.ts'

export interface Action extends Maker {
  happen(world: World, step: Step): void
}

/** `make` says what the step carries, as data; `happen` is given just that. */
export const action = <Carried extends object>(
  weight: number,
  make: (next: Next) => Carried,
  happen: (world: World, carried: Carried) => void,
): Action => ({ weight, make, happen: happen as unknown as Action['happen'] })

export const plain = (weight: number, happen: (world: World) => void): Action =>
  action(weight, () => ({}), happen)

export type Handled = Promise<HandlerResult<unknown> | AwaitedResult>

/** A person's command on any of the items, with nothing more to say. */
export const onItem = (
  weight: number,
  name: string,
  handle: (id: string, context: CommandContext) => Handled,
): Action =>
  action(
    weight,
    (next) => ({ item: among(itemIds, next) }),
    (world, { item }) => ask(world, { name, id: item }, (context) => handle(item, context)),
  )

/** Refused only if it is too late: what this process holds up before its send can be taken back. */
export const takingBack = (
  world: World,
  { name, item }: { name: string; item: string },
  handle: (context: CommandContext) => Handled,
): void =>
  ask(world, { name, id: item }, async (context) => {
    const own = recallable(world, context)
    try {
      return await handle(context)
    } catch (cause) {
      checkTooLate(world, { id: item, command: name }, { cause, own })
      throw cause
    }
  })

export const withdrawal = (
  weight: number,
  name: string,
  handle: (id: string, context: CommandContext) => Handled,
): Action =>
  action(
    weight,
    (next) => ({ item: among(itemIds, next) }),
    (world, { item }) => takingBack(world, { name, item }, (context) => handle(item, context)),
  )
