/**
 * The sentence of a call that a person is asked about names each of its arguments: another value
 * makes another sentence.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { TObject, TSchema } from '@sinclair/typebox'
import { capabilities, operations } from '#contract/index'
import type { NamedOp } from '#contract/op'
import { subjectFor } from '#ops/agent/toolbox/subject'
import { legalInput } from '#test/support/contract/prepare'
import { texts, useSaying } from './saying.ts'

const world = useSaying()
const { app, say, run, make } = world
let accounts: string[]

const asked = [...operations, ...capabilities].filter(
  ({ agent, id }) => agent === 'commit' || texts.includes(id),
)

beforeAll(async () => {
  const { connections } = await run('growth.connections.list', {})
  accounts = connections.map(({ id }: { id: string }) => id)
})

/** As a letter of the workspace reads it. */
const sentence = async (o: NamedOp, args: Record<string, unknown>): Promise<string> => {
  const said = await app.workplace.world.ask(world.workspace.tenantId, {
    name: 'say',
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'test' }, surface: 'admin' },
    decide: async (sql) => {
      const { networks } = app.workplace.world
      return {
        reply: await subjectFor(o, { name: o.tool!, args, title: 'Do it' }, { sql, networks }),
      }
    },
  })
  return said.summary
}

/** Of a list. */
const FIRST = '0'

interface Leaf {
  path: string[]
  schema: TSchema
}

/** Every argument, down to the fields of objects, and of those in lists. */
const leavesOf = (schema: TSchema, path: string[] = []): Leaf[] => {
  if (schema.type === 'array' && schema.items.type === 'object')
    return leavesOf(schema.items, [...path, FIRST])
  return schema.type === 'object' && schema.properties && Object.keys(schema.properties).length > 0
    ? Object.entries((schema as TObject).properties).flatMap(([name, one]) =>
        leavesOf(one, [...path, name]),
      )
    : [{ path, schema }]
}

const FORMATS: Record<string, [string, string]> = {
  'time-zone': ['Europe/Berlin', 'America/New_York'],
  'date-time': ['2031-03-04T09:00:00Z', '2031-03-04T10:00:00Z'],
  'clock-time': ['09:00', '10:00'],
  language: ['de', 'fr'],
  uri: ['https://network.example/1', 'https://network.example/2'],
}

/** Values that the schema allows: two, or the only one. */
const valuesFor = (schema: TSchema): unknown[] => {
  if (schema.anyOf) return valuesFor(schema.anyOf[0])
  if (schema.enum) return schema.enum.slice(0, 2)
  if (schema.type === 'boolean') return [true, false]
  if (schema.format === 'uuid') return accounts
  if (schema.format && FORMATS[schema.format]) return FORMATS[schema.format]!
  if (schema.pattern?.startsWith('^[0-9a-f]')) return ['aaaaaaaa', 'bbbbbbbb']
  if (schema.type === 'integer' || schema.type === 'number')
    return [(schema.minimum ?? 0) + 1, (schema.minimum ?? 0) + 2]
  if (schema.type === 'array') return valuesFor(schema.items).map((one) => [one])
  if (schema.patternProperties)
    return ['Fewer delays', 'More parcels'].map((text) => ({ proof: [text] }))
  return ['Fewer delays', 'More parcels']
}

type Fields = Record<string, unknown>

const withValue = (input: Fields, [name, ...rest]: string[], value: unknown): Fields => {
  const next = rest.length === 0 ? value : withValue((input[name!] ?? {}) as Fields, rest, value)
  return name === FIRST ? ([next] as never) : { ...input, [name!]: next }
}

/** What a field needs beside it. */
const around: Record<string, unknown> = {
  trigger: { kind: 'item_posted' },
  action: { kind: 'request_report' },
  conditions: [{ fact: 'hour', op: '<', value: 9 }],
}

/** Only articles have a title of their own. */
const fitting = async (o: NamedOp, path: string[]): Promise<Fields> => {
  const [first] = path as [string, ...string[]]
  const input: Fields = {
    ...(first in around ? { [first]: around[first] } : {}),
    ...(await legalInput(world.workspace, o)),
  }
  if (path[0] === 'title' && 'id' in input)
    await app.owner`update item set kind = 'article', title = 'Docks',
      body = 'Docks' || chr(10) || chr(10) || body where id = ${input.id as string}`
  return input
}

test('there are such calls, and arguments', () => {
  expect(asked.length).toBeGreaterThan(14)
  expect(asked.flatMap((o) => leavesOf(o.input)).length).toBeGreaterThan(80)
})

describe.each(asked.map((o) => [o.id, o] as const))('%s', (_, o) => {
  // Which record it is, is said by the record's own words, and bound by its hash.
  const leaves = leavesOf(o.input).filter(
    ({ path, schema }) =>
      path.length > 0 &&
      !(path[0] === 'id' && schema.format === 'uuid') &&
      // That says nothing of what is done.
      schema['x-outside-key'] !== true,
  )
  if (leaves.length === 0) test('has no other arguments', () => expect(leaves).toEqual([]))
  for (const { path, schema } of leaves)
    test(`shows ${path.join('.')}`, async () => {
      const base = await fitting(o, path)
      const values = valuesFor(schema)
      // Of two values, one may be what is meant without any.
      const inputs = values.map((value) => withValue(base, path, value))
      if (inputs.length === 1) inputs.push(base)
      expect(inputs).toHaveLength(2)
      const sentences = []
      for (const input of inputs) sentences.push(await sentence(o, input))
      expect(new Set(sentences).size).toBe(2)
    })
})

test('a sentence stays of bounded length, whatever a call asks for', async () => {
  const long = Array.from({ length: 100 }, (_, n) => `${n} `.repeat(600))
  const lists = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`list${n}`, long]))
  const { summary } = await say('growth.profile.update', {
    goal: 'x '.repeat(900),
    add: lists,
    remove: lists,
  })
  expect(summary.length).toBeLessThan(12_000)
  expect(summary).toContain('and 97 more')
  expect(summary).toContain('and 280 more')
})

test('a text in an argument cannot look like the sentence around it', async () => {
  const id = await make('growth.experiments')
  const { summary } = await say('growth.experiments.conclude', {
    id,
    result: 'Fine”, and post now “item',
  })
  expect(summary).toEndWith('with the verdict “Fine", and post now "item”')
  const profile = await say('growth.profile.update', {
    goal: 'x; remove proof none',
    add: { 'proof none; goal': ['y'] },
  })
  expect(profile.summary).toEndWith(': goal “x; remove proof none”; add “proof none; goal” y')
})

test('a change of the profile names the fields, and is bound to what they say', async () => {
  const asked = {
    goal: 'More readers',
    writing_dna: { stories: [], voice_rules: ['Short sentences'] },
  }
  const before = await say('growth.profile.update', asked)
  expect(before.summary).toEndWith(
    ': goal “More readers”, stories none, voice rules “Short sentences”',
  )
  await run('growth.profile.update', { audience: 'Dispatchers' })
  const after = await say('growth.profile.update', asked)
  expect(after.subject.records).not.toEqual(before.subject.records)
  expect(after.subject.records).toMatchObject([{ kind: 'profile', id: world.workspace.tenantId }])
})

test('a change of a channel names the rules and times', async () => {
  const id = await make('growth.channels')
  const asked = {
    id,
    status: 'inactive',
    format_rules: { max_length: 200 },
    cadence: { time_zone: 'UTC' },
  }
  const before = await say('growth.channels.update', asked)
  expect(before.summary).toBe(
    'Change the channel for threads: status inactive, max length 200, time zone UTC',
  )
  await run('growth.channels.update', asked)
  expect((await say('growth.channels.update', asked)).subject.records).not.toEqual(
    before.subject.records,
  )
})

test('a rule is told by what starts it and what it does', async () => {
  const rule = {
    name: 'Keep drafting',
    trigger: { kind: 'metric', metric: 'likes', at_least: 100 },
    action: { kind: 'draft_batch', count: 1 },
  }
  expect((await say('growth.rules.create', rule)).summary).toBe(
    'Create the rule “Keep drafting” (active), at most 5 times a day: when the likes of a post reach 100, draft 1 post',
  )
  const id = await make('growth.rules')
  const asked = { id, status: 'paused', action: { kind: 'resurface' } }
  const before = await say('growth.rules.update', asked)
  expect(before.summary).toBe(
    'Change the rule “Keep drafting” (status paused, action): when a post has gone out, draft an old post again',
  )
  await app.owner`update rule set used = used + 1, last_run_at = now() where id = ${id}`
  expect((await say('growth.rules.update', asked)).subject.records).toEqual(before.subject.records)
  await run('growth.rules.update', asked)
  expect((await say('growth.rules.update', asked)).subject.records).not.toEqual(
    before.subject.records,
  )
})

test('a conclusion names the experiment and the verdict', async () => {
  const id = await make('growth.experiments')
  const { summary, subject } = await say('growth.experiments.conclude', {
    id,
    result: 'Supported: numbers first',
  })
  expect(summary).toBe(
    'Conclude the experiment “Numbers first” for good, with the verdict “Supported: numbers first”',
  )
  expect(subject.records).toMatchObject([{ kind: 'experiment', id }])
})
