/**
 * Marks in structured content: on strangers' sentences, and on what jobs that have read such
 * stored; on nothing else.
 */
import { describe, expect, test } from 'bun:test'
import { approvals } from '#contract/agent/approvals'
import { documentCapabilities } from '#contract/agent/documents'
import { jobs } from '#contract/agent/jobs'
import { memoryCapabilities } from '#contract/agent/memories'
import { tasks } from '#contract/agent/tasks'
import { brief } from '#contract/growth/brief'
import { structureAnswer } from '#edge/mcp/answer/structured'
import { toolWording } from '#edge/mcp/wording'
import { newTagName } from '#kernel/untrusted-tags'

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
const shown = (body: object, schema: { output: any }): any => {
  const made = structureAnswer(body as Record<string, unknown>, schema.output)
  return JSON.parse(JSON.stringify(made).replaceAll(/untrusted-[0-9a-f]{16}/g, 'M'))
}
const ID = '01890000-0000-7000-8000-000000000000'
const AT = '2026-11-26T10:00:00.000Z'

describe('what is marked', () => {
  test('of a memory is its text, if a tainted job stored it; ids, scopes and times never are', () => {
    const memory = {
      id: ID,
      scope: 'user',
      text: 'Eve said so',
      jobId: ID,
      createdAt: AT,
      lastUsedAt: null,
    }
    const found = shown(
      { memories: [{ ...memory, untrusted: false }], untrusted: [{ ...memory, untrusted: true }] },
      memoryCapabilities.search_memories,
    )
    expect(found.memories[0]).toEqual({ ...memory, untrusted: false })
    expect(found.untrusted[0]).toEqual({ ...memory, text: '<M>Eve said so</M>', untrusted: true })
    expect(found.untrusted_note).toStartWith('Strangers wrote the text between <M> and </M>')
    expect(found.untrusted_fields).toBeUndefined()
    const kept = (untrusted: boolean) =>
      shown({ memory: { ...memory, untrusted } }, memoryCapabilities.remember).memory.text
    expect([kept(false), kept(true)]).toEqual(['Eve said so', '<M>Eve said so</M>'])
  })

  test('of a passage are its words, and the citation is named', () => {
    const passage = {
      documentId: ID,
      fileName: 'a b.md',
      number: 1,
      heading: 'H',
      text: 'T',
      cite: '[a b.md](https://x)',
    }
    const { passages, untrusted, untrusted_fields } = shown(
      { passages: [passage], untrusted: [passage] },
      documentCapabilities.search_documents,
    )
    expect(passages).toEqual([passage])
    expect(untrusted).toEqual([
      { ...passage, fileName: '<M>a b.md</M>', heading: '<M>H</M>', text: '<M>T</M>' },
    ])
    expect(untrusted_fields).toEqual(['untrusted[].cite'])
  })

  test('of a call that waits is what a tainted job asks for, until a person has approved it', () => {
    const subject = {
      records: [{ kind: 'item', id: ID, sha256: 'a'.repeat(64) }],
      account: '@dock',
      text: 'Ship it',
      sha256: null,
    }
    const asked = (taint: string[], status: string) =>
      shown(
        {
          approvals: [
            {
              id: ID,
              tool_name: 'growth_add_learning',
              goal: 'go',
              summary: 'Add it',
              subject,
              status,
              why: ['role'],
              arguments: { note: 'two words', kind: 'worked' },
              job: { id: ID, goal: 'go', taint },
            },
          ],
        },
        approvals.list,
      )
    const [tainted] = asked(['signal'], 'pending').approvals
    expect(tainted).toMatchObject({
      summary: '<M>Add it</M>',
      subject: { ...subject, text: '<M>Ship it</M>' },
      tool_name: 'growth_add_learning',
      why: ['role'],
      arguments: { note: '<M>two words</M>', kind: 'worked' },
      goal: 'go',
      job: { goal: 'go' },
    })
    expect(asked(['signal'], 'pending').untrusted_fields).toEqual(['approvals[].arguments.kind'])
    for (const one of [asked([], 'pending'), asked(['signal'], 'approved')])
      expect(JSON.stringify(one)).not.toMatch(/<M>|untrusted_/)
    expect(asked(['channel dev'], 'approved').approvals[0]).toMatchObject({
      goal: '<M>go</M>',
      job: { goal: '<M>go</M>' },
    })
  })

  test('of a job is its answer if it was tainted, and of a step its result if that is of people outside', () => {
    const answer = { id: ID, role: 'assistant', content: 'They wrote hello', createdAt: AT }
    const step = {
      kind: 'tool',
      name: 'fetch_url',
      arguments: { url: 'https://x', maxCharacters: 5 },
      result: 'hello all',
      error: null,
    }
    const job = (taint: string[]) => ({
      id: ID,
      kind: 'turn',
      goal: 'read it',
      output: { text: 'last words' },
      taint,
    })
    const read = (taint: string[], untrusted: string | null) =>
      shown(
        { job: job(taint), answer, steps: [{ ...step, untrusted }], approvals: [], children: [] },
        jobs.get,
      )
    const clean = read([], null)
    expect(JSON.stringify(clean)).not.toContain('<M>')
    const tainted = read(['fetch_url x'], 'fetch_url x')
    expect(tainted.job).toMatchObject({ goal: 'read it', output: { text: '<M>last words</M>' } })
    expect([tainted.answer.content, tainted.steps[0].result]).toEqual([
      '<M>They wrote hello</M>',
      '<M>hello all</M>',
    ])
    expect(tainted.untrusted_fields).toEqual(['steps[].arguments.url'])
    expect(read(['fetch_url x'], null).steps[0].result).toBe('hello all')
  })

  test('of JSON without a declared form are its sentences, and the rest is named', () => {
    const output = {
      items: [{ text: 'Call', owner: 'Anna', due: 'next Friday' }],
      label: 'urgent',
      count: 3,
    }
    const { task, untrusted_fields } = shown(
      { task: { id: ID, status: 'completed', output } },
      tasks.get,
    )
    expect(task.output).toEqual({
      items: [{ text: '<M>Call</M>', owner: 'Anna', due: '<M>next Friday</M>' }],
      label: 'urgent',
      count: 3,
    })
    expect(untrusted_fields).toEqual(['task.output.items[].owner', 'task.output.label'])
  })

  test('of the brief are titles of signals and engagements, and not those of items', () => {
    const action = (kind: string, type: string, status: string) => ({
      kind,
      title: 'Do it',
      why: 'Because',
      score: 1,
      count: 1,
      operation: 'x',
      tool: null,
      arguments: {},
      items: [{ id: ID, type, title: 'Some words', status, at: AT }],
    })
    const actions = [
      action('approve_posts', 'post', 'drafted'),
      action('answer_signals', 'signal', 'open'),
    ]
    const titles = shown(
      { brief: { actions: [...actions, action('approve_engagements', 'engagement', 'drafted')] } },
      brief.get,
    ).brief.actions
    expect(titles.map(({ items }: { items: { title: string }[] }) => items[0]!.title)).toEqual([
      'Some words',
      '<M>Some words</M>',
      '<M>Some words</M>',
    ])
  })
})

test('what is left out of a short form says that it is empty, and what nothing tells of is taken for words of strangers', () => {
  const step = { kind: 'tool', name: 'x', result: 'ours' }
  expect(shown({ job: { taint: [] }, steps: [step] }, jobs.get).steps[0].result).toBe('ours')
  expect(
    shown(
      { answer: { content: 'whose?' } },
      { output: { type: 'object', properties: { answer: jobs.get.output.properties.answer } } },
    ).answer,
  ).toEqual({ content: '<M>whose?</M>' })
})

test('a job is tainted by what is marked alone', () => {
  const { output } = memoryCapabilities.remember
  const memory = (untrusted: boolean) => ({
    memory: { id: ID, scope: 'user', text: 'words', untrusted },
  })
  expect([
    toolWording.isForeign(output, memory(true)),
    toolWording.isForeign(output, memory(false)),
  ]).toEqual([true, false])
  expect(newTagName()).toMatch(/^untrusted-[0-9a-f]{16}$/)
})
