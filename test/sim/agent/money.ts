/**
 * What must hold for budgets and for a model's answers, computed by other means than the functions
 * under test.
 */
import type { ThoughtUsage } from '#domain/agent/job/answer'
import type { CallReservation } from '#domain/agent/job/budget'
import type { Step } from '#domain/agent/job/step'
import { bookOf, hold, LIMITS, note, type World } from './world.ts'

const day = (at: Date): string => `agent_tokens_day@${at.toISOString().slice(0, 10)}`
const month = (at: Date): string => `agent_tokens_month@${at.toISOString().slice(0, 7)}`
const cost = (at: Date): string => `agent_cost_month@${at.toISOString().slice(0, 7)}`

const price = (input: number, output: number): number => Math.ceil(input / 1_000 + output / 200)

/** In hundredths of a cent: the price of a thousand tokens in, and of two hundred out. */
export const priceOf = ({ input, output }: { input: number; output: number }): number =>
  price(input, output)

/** What a call that is over now has taken of its job's time. */
export const timeOf = ({ now }: World, { started_at }: Step): number =>
  Math.min(170_000, Math.max(0, +now - +(started_at ?? now)))

const book = ({ ledger }: World, key: string, amount: number) => {
  ledger[key] = (ledger[key] ?? 0) + amount
}

const checkBooks = (world: World) => {
  for (const key of new Set([...Object.keys(world.ledger), ...Object.keys(world.counters)]))
    hold(
      world,
      (world.ledger[key] ?? 0) === (world.counters[key] ?? 0),
      `${key} counts ${world.counters[key]}, not ${world.ledger[key]}`,
    )
}

interface Reserved {
  before: Record<string, number>
  input: number
  reserved: CallReservation | string
}

/**
 * No more is reserved than there is, and no call is refused that there is room for. Called once the
 * reservation is spent.
 */
export const checkReserved = (world: World, { before, input, reserved }: Reserved) => {
  const left = (key: string, limit: number) => limit - (before[key] ?? 0)
  const { now } = world
  const room = Math.min(
    left(day(now), LIMITS.agent_tokens_day),
    left(month(now), LIMITS.agent_tokens_month),
  )
  const most = Math.min(4_000, room - input)
  const isRich = most >= 500 && price(input, most) <= left(cost(now), LIMITS.agent_cost_month)
  hold(
    world,
    isRich === (typeof reserved === 'object'),
    isRich ? `refused by ${reserved}, though there is room` : 'reserved more than there is',
  )
  if (typeof reserved === 'string') {
    const isDay =
      left(day(now), LIMITS.agent_tokens_day) <= left(month(now), LIMITS.agent_tokens_month)
    const used =
      most >= 500 ? 'agent_cost_month' : isDay ? 'agent_tokens_day' : 'agent_tokens_month'
    return hold(world, reserved === used, `${reserved} is used up, where it is ${used}`)
  }
  hold(world, reserved.maxTokens === most, `an answer of ${reserved.maxTokens} tokens, not ${most}`)
  hold(
    world,
    reserved.tokens === input + most && reserved.cost === price(input, most),
    'another reservation than the call may need',
  )
  book(world, day(now), input + most)
  book(world, month(now), input + most)
  book(world, cost(now), price(input, most))
  checkBooks(world)
}

/** The step of a call that runs from now on has what was reserved for it. */
export const checkBegun = (world: World, { id, job_id }: Step, reserved: CallReservation) => {
  const { state, reserved_tokens, reserved_cost, day: from } = world.steps.get(id)!
  const isPaid = reserved_tokens === reserved.tokens && reserved_cost === reserved.cost
  hold(world, state === 'running' && isPaid && from === reserved.day, 'a call that nobody pays')
  note(world, job_id, { reserved_tokens: reserved.tokens, reserved_cost: reserved.cost })
}

/** `used`: undefined if it is not known, so that the reservation stands. */
export const checkSettled = (
  world: World,
  { job_id, day: from, reserved_tokens, reserved_cost }: Step,
  used: { tokens: number; cost: number } | undefined,
) => {
  const [began, now] = [new Date(`${from}T12:00:00Z`), world.now]
  if (used) {
    const [tokens, money] = [used.tokens - reserved_tokens, used.cost - reserved_cost]
    book(world, day(tokens < 0 ? began : now), tokens)
    book(world, month(tokens < 0 ? began : now), tokens)
    book(world, cost(money < 0 ? began : now), money)
    note(world, job_id, { reserved_tokens: -reserved_tokens, reserved_cost: -reserved_cost })
  }
  checkBooks(world)
}

/** A job counts what it has used. */
export const checkCounted = (world: World) => {
  for (const job of world.jobs.values())
    for (const [key, amount] of Object.entries(bookOf(world, job.id)))
      hold(
        world,
        job[key as 'cost'] === amount,
        `a job that is ${job.status} counts ${job[key as 'cost']} ${key}, not ${amount}`,
      )
}

interface Answer {
  text: string
  calls: { name: string; arguments: string }[]
  usage: ThoughtUsage | undefined
}

interface Kept extends Answer {
  refused: { calls: { name: string; arguments: string }[]; left: number }
}

/** An answer is kept as far as it can be stored. */
export const checkAnswer = (world: World, given: Answer, kept: Kept) => {
  const { calls, left } = kept.refused
  hold(
    world,
    kept.calls.length === Math.min(16, given.calls.length),
    `${kept.calls.length} of ${given.calls.length} calls are made`,
  )
  hold(
    world,
    calls.length === Math.max(0, Math.min(48, given.calls.length - 16)),
    `${calls.length} of ${given.calls.length} are refused`,
  )
  hold(
    world,
    left === Math.max(0, given.calls.length - 64),
    `${left} of ${given.calls.length} are left out`,
  )
  hold(world, kept.text.isWellFormed() && !kept.text.includes('\0'), 'text that cannot be stored')
  const isTrue =
    given.usage !== undefined && given.usage.input_tokens >= 0 && given.usage.output_tokens < 1e9
  hold(world, (kept.usage !== undefined) === isTrue, 'usage that cannot be true')
}

interface Resolved {
  given: object
  args: Record<string, unknown>
  handles: Record<string, string>
  typed: string
}

/** Only records that were shown, or that a person has typed, can be named. */
export const checkArguments = (world: World, { given, args, handles, typed }: Resolved) => {
  const { id } = given as { id?: string }
  if (id === undefined) return hold(world, args.id === undefined, 'an id from nowhere')
  const isShown = Object.values(handles).includes(id) || typed.includes(id)
  hold(world, isShown ? args.id === id : args.id === handles[id], `${id} stands for ${args.id}`)
}

/**
 * By conversation: a handle always stands for the same record, and a record has only one handle.
 */
export const checkHandles = (world: World, before: World['threads']) => {
  for (const [conversation, { handles }] of world.threads) {
    const uuids = Object.values(handles)
    hold(world, new Set(uuids).size === uuids.length, 'a record has two names')
    hold(
      world,
      uuids.every((id) => world.records.has(id)),
      'a name of nothing',
    )
    for (const [handle, uuid] of Object.entries(before.get(conversation)!.handles))
      hold(world, handles[handle] === uuid, `${handle} was ${uuid} and is ${handles[handle]}`)
  }
}
