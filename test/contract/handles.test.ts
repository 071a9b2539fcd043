/**
 * What models see in the place of ids: one word for each kind of record, whichever tool shows it.
 */
import { expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { capabilities, operations } from '#contract/index'
import { isAgentTool } from '#contract/op'
import { HandleBook, type Naming } from '#domain/agent/job/handles'
import { newId } from '#kernel/ids'

type Value = Record<string, unknown>

/** An answer in which every id is a new one. */
const filled = (schema: TSchema, name = ''): unknown => {
  if (schema.anyOf) return filled(schema.anyOf[0], name)
  if (schema.items) return [filled(schema.items, name)]
  if (schema.properties)
    return Object.fromEntries(
      Object.entries<TSchema>(schema.properties).map(([field, one]) => [field, filled(one, field)]),
    )
  if (schema.format === 'uuid' || name === 'ref') return newId()
  return schema.enum?.[0] ?? (name === 'kind' ? 'batch' : null)
}

interface Shown {
  /** The title of the record, if it has one. */
  title: string | undefined
  word: string
  field: string
  tool: string
}

const wordOf = (handle: unknown): string => String(handle).split(':')[0]!

/** The handles in an answer: of its records, and of those that they refer to. */
const handlesIn = (tool: string, schema: TSchema, value: unknown, field = ''): Shown[] => {
  if (schema.anyOf) return handlesIn(tool, schema.anyOf[0], value, field)
  if (Array.isArray(value)) return value.flatMap((one) => handlesIn(tool, schema.items, one, field))
  if (typeof value === 'string')
    return schema.format === 'uuid' ? [{ title: undefined, word: wordOf(value), field, tool }] : []
  if (!schema.properties) return []
  return Object.entries<TSchema>(schema.properties).flatMap(([name, one]) => {
    const inside = (value as Value)[name]
    if (name === 'id' && one.format === 'uuid')
      return [{ title: schema.title, word: wordOf(inside), field: name, tool }]
    return handlesIn(tool, one, inside, name)
  })
}

const shown = [...operations, ...capabilities]
  .filter(isAgentTool)
  .flatMap(({ tool, output }) =>
    handlesIn(tool!, output, new HandleBook({}).shorten(filled(output), output as Naming)),
  )

test('records of one kind have one word, and no other kind has it', () => {
  const words = new Map(
    shown.flatMap(({ title, word }) => (title === undefined ? [] : [[title, word] as const])),
  )
  for (const { title, word, tool } of shown)
    if (title) expect([tool, title, word]).toEqual([tool, title, words.get(title)!])
  expect(new Set(words.values()).size).toBe(words.size)
})

/** Tools that answer with an id but not with its record, and the tool that lists these. */
test.each([
  ['schedule_task', 'list_scheduled_tasks'],
  ['cancel_scheduled_task', 'list_scheduled_tasks'],
  ['create_webhook_rule', 'list_webhook_rules'],
  ['create_artifact', 'list_artifacts'],
])('%s calls its record as %s does', (tool, list) => {
  const wordIn = (name: string) =>
    shown.find((one) => one.tool === name && one.field === 'id')?.word
  expect(wordIn(tool)).toBe(wordIn(list)!)
})

/** Records that no tool shows by themselves. */
const UNSHOWN = ['document', 'event', 'job', 'playbook', 'reply', 'version']

test('what a record refers to has the word of its own list', () => {
  const known = new Set([
    ...shown.flatMap(({ title, word }) => (title === undefined ? [] : [word])),
    ...UNSHOWN,
  ])
  expect(shown.filter(({ word }) => !known.has(word))).toEqual([])
})

test('a record that an automation made, or began with, is called what it is', () => {
  const runs = operations.find(({ tool }) => tool === 'growth_list_rule_runs')!.output as Naming
  const run = (kind: string, made: string) => ({
    rule_runs: [{ trigger: { kind, ref: newId() }, made: { kind: made, id: newId() } }],
  })
  expect(new HandleBook({}).shorten(run('metric', 'report'), runs)).toMatchObject({
    rule_runs: [{ trigger: { ref: 'item:1' }, made: { id: 'report:1' } }],
  })
  const brief = operations.find(({ tool }) => tool === 'growth_get_brief')!.output as Naming
  const rows = ['article', 'signal', 'slot'].map((type) => ({
    type,
    id: type === 'slot' ? null : newId(),
  }))
  expect(
    new HandleBook({}).shorten({ brief: { actions: [{ items: rows }] } }, brief),
  ).toMatchObject({
    brief: { actions: [{ items: [{ id: 'item:1' }, { id: 'signal:1' }, { id: null }] }] },
  })
})

test('what an action of the brief is about is called by the kind of the action', () => {
  const brief = operations.find(({ tool }) => tool === 'growth_get_brief')!.output as Naming
  const action = (kind: string) => ({ brief: { actions: [{ kind, arguments: { id: newId() } }] } })
  const word = (kind: string) => {
    const { brief: shortened } = new HandleBook({}).shorten(action(kind), brief) as ReturnType<
      typeof action
    >
    return wordOf(shortened.actions[0]!.arguments.id)
  }
  expect(
    [
      'approve_articles',
      'execute_engagements',
      'answer_signals',
      'conclude_experiment',
      'fill_slots',
    ].map(word),
  ).toEqual([...['item', 'engagement', 'signal', 'experiment', 'item']])
})
