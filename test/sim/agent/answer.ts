/**
 * What the model answers, by chance: calls of any tool, of any record, in any number; and what of
 * it can be used.
 */
import { argumentsHash } from '#domain/agent/hash'
import { HandleBook } from '#domain/agent/job/handles'
import type { Job } from '#domain/agent/job/job'
import { circles } from './calls.ts'
import { threadOf } from './family.ts'
import { checkArguments } from './money.ts'
import { temptations, toolNames, tools } from './tools.ts'
import { FOREIGN, newId, type Run, type World } from './world.ts'

export interface Called {
  name: string
  arguments: string
}

const anyId = (world: World, conversation: string): string => {
  const shown = Object.keys(world.handles.get(conversation) ?? {})
  const chance = world.next()
  if (chance < 0.7 && shown.length > 0) return world.of(shown)
  return world.of([
    FOREIGN,
    'record:999',
    [...world.records.keys()][5]!,
    '00000000-0000-4000-8000-0000000000ff',
  ])
}

const callOf = (world: World, conversation: string): Called => {
  // The same call again and again, of what may have happened already.
  if (world.next() < 0.1) return { name: 'sms', arguments: '{}' }
  if (world.next() < 0.15) return { name: 'delegate', arguments: '{}' }
  const name = world.next() < 0.9 ? world.of(temptations) : world.of([...toolNames, 'nothing'])
  if (world.next() < 0.05) return { name, arguments: world.of(['{', '[]', 'null', '"x"']) }
  return {
    name,
    arguments: JSON.stringify(
      world.next() < 0.4 ? {} : { id: anyId(world, conversation), n: world.below(3) },
    ),
  }
}

/** The same again, whatever it was told; or nothing, where it must conclude. */
const inCircles = (world: World, { id }: Job, last: boolean) => {
  const usage = { input_tokens: 300, cached_tokens: 0, output_tokens: 20 }
  const name = ['list', 'sms', 'publish'][Number.parseInt(id.slice(-2), 16) % 3]!
  const call = { id: newId(world), name, arguments: world.next() < 0.1 ? '{' : '{}' }
  const calls = last && world.next() < 0.5 ? [] : [call]
  return { text: '', calls, ending: 'whole' as const, model: 'm', usage }
}

export const answerOf = (world: World, job: Job, last: boolean) => {
  const conversation = threadOf(world, job)
  const chance = world.next()
  if (circles(job) && chance < 0.9) return inCircles(world, job, last)
  const many = chance < 0.03 ? world.of([40, 90]) : 1 + world.below(5)
  const name = world.of(['list', 'delegate', undefined])
  const one =
    many >= 40 && name ? () => ({ name, arguments: '{}' }) : () => callOf(world, conversation)
  const calls = chance < (last ? 0.3 : 0.8) ? Array.from({ length: many }, one) : []
  const usage = {
    input_tokens: 200 + world.below(9_000),
    cached_tokens: 0,
    output_tokens: world.below(5_000),
  }
  const text = world.next() < 0.9 ? 'Fine.' : world.of(['', '\0', 'a\ud800', 'x'.repeat(9_000)])
  const odd = world.of([
    undefined,
    { ...usage, input_tokens: -1 },
    { ...usage, output_tokens: 1e12 },
  ])
  const called = calls.map((call) => ({ id: newId(world), ...call }))
  const ending = 'whole' as const
  return { text, calls: called, ending, model: 'm', usage: world.next() < 0.9 ? usage : odd }
}

interface Checked {
  args: Record<string, unknown>
  hash: string
}

export const checkedCall = (
  world: World,
  run: Extract<Run, { kind: 'think' }>,
  { name, arguments: text }: Called,
): Checked | string => {
  if (!run.offered.includes(name) || !tools.has(name)) return 'there is no such tool'
  const job = world.jobs.get(run.job)!
  try {
    const given: unknown = JSON.parse(text)
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'not an object'
    const handles = world.handles.get(threadOf(world, job)) ?? {}
    const args = new HandleBook(handles).resolve(given, job.goal) as Record<string, unknown>
    checkArguments(world, { given, args, handles, typed: job.goal })
    return { args, hash: argumentsHash(args) }
  } catch (cause) {
    return String(cause)
  }
}
