/** What people may do with a record: a table of actions and states. */
import { fail } from '#kernel/errors'
import { nextCall } from './way-on.ts'

/** What to do instead of what a record's state does not allow. */
export interface WayOn {
  /** For people: the end of the sentence that names the state. */
  words: string
  /** For programs: the operation to call, with the record's id. */
  operation?: string
  /** The record may be on the network, which the sentence says too. */
  isInDoubt?: true
}

interface Stateful {
  id: string
  status: string
  decision: LastDecision | null
}

/** The last decision on a record. */
export interface LastDecision {
  what: string
  by: { kind: 'person' | 'key' | 'agent' | 'system'; id: string }
  /** Text, as it is kept. */
  at: Date | string
}

interface Transition<R extends Stateful, State> {
  from: readonly State[]
  /** Without it the status stays. */
  to?: R['status']
  /** Another way on than that of the state. */
  instead?(record: R): WayOn | undefined
}

/** What of a table concerns no action. */
interface Naming<R extends Stateful, State extends string = string> {
  /** The record's name in errors. */
  noun: string
  /** The operation that reads one. */
  reads: string
  /** The state in words, for messages. */
  stateOf(record: R): State
  /** The way on for those who would take back what may be on the network. */
  inDoubt: WayOn
  /** The states into which each decision brings a record. */
  leadsTo: Record<NonNullable<R['decision']>['what'], readonly State[]>
}

export interface States<R extends Stateful> extends Naming<R> {
  /** Who brought the record into its state, if a decision did. */
  deciderOf(record: R): Pick<LastDecision, 'by' | 'at'> | undefined
  /** Throws `conflict`, naming the state and the way on. */
  refuse(record: R, action: string, way: WayOn): never
}

/** `waysOn`: those of each state where it does not allow what is asked. */
export const transitionsOf = <R extends Stateful, State extends string, Action extends string>({
  waysOn,
  actions,
  ...naming
}: Naming<R, State> & {
  waysOn: Record<State, WayOn>
  actions: Record<Action, Transition<R, State>>
}) => {
  const { noun, stateOf, leadsTo } = naming
  const deciderOf = (record: R): Pick<LastDecision, 'by' | 'at'> | undefined => {
    const { decision } = record
    const what = decision?.what as keyof typeof leadsTo | undefined
    return what && leadsTo[what].includes(stateOf(record)) ? decision! : undefined
  }
  const allows = (record: R, action: Action) => actions[action].from.includes(stateOf(record))
  const refuse = (record: R, action: string, { words, operation, isInDoubt }: WayOn): never => {
    const state = `${stateOf(record)}${isInDoubt ? ' and may already be on the network' : ''}`
    const { by, at } = deciderOf(record) ?? {}
    return fail('conflict', `cannot ${action}: the ${noun} is ${state}; ${words}`, {
      reason: isInDoubt ? 'in_doubt' : 'wrong_state',
      by,
      at,
      details: operation === undefined ? undefined : [nextCall(operation, record.id)],
    })
  }
  /** From where the state does not allow the action. */
  const wayOn = (record: R, action: Action): WayOn =>
    actions[action].instead?.(record) ?? waysOn[stateOf(record)]
  /** The status that follows. Throws `conflict` where the state does not allow the action. */
  const next = (record: R, action: Action): R['status'] =>
    allows(record, action)
      ? (actions[action].to ?? record.status)
      : refuse(record, action, wayOn(record, action))
  return { ...naming, actions, allows, deciderOf, refuse, wayOn, next }
}
