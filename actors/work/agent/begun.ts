/** The step of a call of the model, as it begins. */
import type { CallReservation } from '#domain/agent/job/budget'
import { newStep, type Step } from '#domain/agent/job/step'
import { newId } from '#kernel/ids'
import type { At } from './at.ts'

type Place = Pick<At, 'changes' | 'gate'>

/** A further call of the model. */
const addThought = ({ changes, gate }: Place, more: Pick<Step, 'state'> & Partial<Step>): Step => {
  const { id: job_id, model: name } = changes.job
  return changes.add((number) =>
    newStep({ id: newId(), job_id, number, kind: 'model', name, ...more }, gate.now),
  )
}

/**
 * A step that was tried before keeps what its dead calls had reserved as spent: its reservation is
 * replaced, never given back.
 */
export const beginStep = (
  { changes, gate }: Place,
  before: Step | undefined,
  reserved: CallReservation | undefined,
  more: Partial<Pick<Step, 'kind' | 'name'>> = {},
): Step => {
  const taken = reserved
    ? {
        reserved_tokens: reserved.tokens,
        reserved_cost: reserved.cost,
        day: reserved.day,
        month: reserved.month,
      }
    : { reserved_tokens: 0, reserved_cost: 0 }
  if (reserved) {
    const { reserved_tokens, reserved_cost } = changes.job
    changes.also({ spend: reserved.spend })
    changes.set({
      reserved_tokens: reserved_tokens + reserved.tokens,
      reserved_cost: reserved_cost + reserved.cost,
    })
  }
  if (before)
    return changes.save({
      ...before,
      ...taken,
      state: 'running',
      started_at: gate.now,
      not_before: null,
    })
  return addThought(
    { changes, gate },
    { ...more, state: 'running', started_at: gate.now, ...taken },
  )
}
