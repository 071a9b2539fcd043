/** The sentence of a call that a person is asked about names each of its arguments: another value makes another sentence. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { TObject, TSchema } from '@sinclair/typebox'
import { capabilities, operations } from '#contract/index'
import type { NamedOp } from '#contract/op'
import { subjectFor } from '#ops/agent/toolbox/subject'
import { call, legalInput, newWorkspace, recipes, type Workspace } from '#test/support/contract/prepare'
import { useApp } from '#test/support/use'

const app = useApp()
let workspace: Workspace
let accounts: string[]

const WRITES = ['growth.items.create', 'growth.items.edit', 'growth.items.reopen']
const asked = [...operations, ...capabilities].filter(({ agent, id }) => agent === 'commit' || WRITES.includes(id))

beforeAll(async () => {
  workspace = await newWorkspace(app)
  await recipes['growth.connections']!.make(workspace)
  const list = operations.find(({ id }) => id === 'growth.connections.list')!
  const { connections } = (await call(workspace, list, {})).body as unknown as { connections: { id: string }[] }
  accounts = connections.map(({ id }) => id)
})

/** As a letter of the workspace reads it. */
const sentence = async (o: NamedOp, args: Record<string, unknown>): Promise<string> => {
  const said = await app.workplace.world.ask(workspace.tenantId, {
    name: 'say',
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'test' }, surface: 'admin' },
    decide: async (sql) => {
      const { networks } = app.workplace.world
      return { reply: await subjectFor(o, { name: o.tool!, args, title: 'Do it' }, { sql, networks }) }
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
  if (schema.type === 'array' && schema.items.type === 'object') return leavesOf(schema.items, [...path, FIRST])
  return schema.type === 'object' && schema.properties && Object.keys(schema.properties).length > 0
    ? Object.entries((schema as TObject).properties).flatMap(([name, one]) => leavesOf(one, [...path, name]))
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
  if (schema.format === 'uuid') return accounts
  if (schema.format && FORMATS[schema.format]) return FORMATS[schema.format]!
  if (schema.pattern?.startsWith('^[0-9a-f]')) return ['aaaaaaaa', 'bbbbbbbb']
  if (schema.type === 'integer' || schema.type === 'number') return [(schema.minimum ?? 0) + 1, (schema.minimum ?? 0) + 2]
  if (schema.type === 'array') return valuesFor(schema.items).map((one) => [one])
  if (schema.patternProperties) return ['Fewer delays', 'More parcels'].map((text) => ({ proof: [text] }))
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
  const input: Fields = { ...(first in around ? { [first]: around[first] } : {}), ...(await legalInput(workspace, o)) }
  if (path[0] === 'title' && 'id' in input)
    await app.owner`update item set kind = 'article', title = 'Docks', body = 'Docks' || chr(10) || chr(10) || body where id = ${input.id as string}`
  return input
}

test('there are such calls, and arguments', () => {
  expect(asked.length).toBeGreaterThan(14)
  expect(asked.flatMap((o) => leavesOf(o.input)).length).toBeGreaterThan(80)
})

describe.each(asked.map((o) => [o.id, o] as const))('%s', (_, o) => {
  // Which record it is, is said by the record's own words, and bound by its hash.
  const leaves = leavesOf(o.input).filter(({ path, schema }) => path.length > 0 && !(path[0] === 'id' && schema.format === 'uuid'))
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
