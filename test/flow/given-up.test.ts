/** Rows that have failed as often as their kind allows, with their real lanes: their records end by what is known, and never go back. */
import { describe, expect, test } from 'bun:test'
import { endInVain } from '#actors/engine/failure'
import type { AnyLane } from '#actors/engine/lane'
import type { WorkKind } from '#contract/work'
import { admitArticle, admitAudit, admitBatch, admitReport } from '#decisions/growth/admission'
import { kindsOfWork, newWork, workTable } from '#decisions/work'
import { none } from '#kernel/failpoint'
import { createLog } from '#kernel/log'
import { createComposer } from '#port/model/composer/composer'
import { agentOf } from '#server/agent'
import { lanesOf } from '#server/lanes'
import type { Effects, Gate } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { write } from '#test/support/arrange'
import { makeReply } from '#test/support/channel-replies'
import { makeDocument } from '#test/support/documents'
import { inlineTexts } from '#test/support/inline-texts'
import { inlineWorker } from '#test/support/inline-worker'
import { letterOf } from '#test/support/letters'
import { newStory, type Story } from '#test/support/story'
import { useApp } from '#test/support/use'

/** Runs no lanes: its rows stay queued. */
const app = useApp(() => ({ overrides: { lanes: [] } }))

const admitted = async (story: Story, admit: (asking: { gate: Gate; origin: 'manual' }) => { effects: Effects }): Promise<string> =>
  app.workplace.runtime.ask(
    story.tenantId,
    letterOf((_, gate) => {
      const { effects } = admit({ gate, origin: 'manual' })
      return { reply: effects.work![0]!.refId, effects }
    }),
  )

const queuedWith = async ({ tenantId }: Story, kind: 'ingest' | 'channel_reply', refId: string): Promise<string> => {
  const row = newWork(kind, { refId, origin: 'manual', runAt: new Date(Date.now() + 3_600_000), connection: refId } as never)
  await write({ app, tenantId }, { work: [row] })
  return refId
}

const inWorkspace = ({ tenantId, key }: Story) => ({ app, tenantId, key, session: '' })
const unknownPart = {
  text: 'We open.',
  state: 'unknown',
  external_id: null,
  error: 'it broke off',
  tried_at: null,
  in_doubt: true,
} as const

interface Case {
  kind: WorkKind
  table: string
  make(story: Story): Promise<string>
  ends: { status: string; error?: string }
}

const generated = { status: 'failed', error: 'enqueue_failed' }
const cases: [name: string, of: Case][] = [
  ['a post', { kind: 'send', table: 'item', make: (story) => story.scheduled(86_400_000), ends: { status: 'publish_failed' } }],
  [
    'a batch',
    { kind: 'batch', table: 'batch', make: (story) => admitted(story, (by) => admitBatch(by, { count: 1, focus: '' })), ends: generated },
  ],
  [
    'an article',
    {
      kind: 'article',
      table: 'article',
      make: (story) => admitted(story, (by) => admitArticle(by, { topic: 'ferries', length: 'short', outline: null })),
      ends: generated,
    },
  ],
  [
    'a report',
    {
      kind: 'report',
      table: 'report',
      make: (story) => admitted(story, (by) => admitReport(by, { week: '2026-11-09', time_zone: 'UTC' })),
      ends: generated,
    },
  ],
  [
    'an audit',
    {
      kind: 'growth_audit',
      table: 'growth_audit',
      make: (story) => admitted(story, (by) => admitAudit(by, { days: 7, given: null })),
      ends: generated,
    },
  ],
  [
    'a document',
    {
      kind: 'ingest',
      table: 'document',
      make: async (story) => queuedWith(story, 'ingest', (await makeDocument(inWorkspace(story), { status: 'queued' })).id),
      ends: { status: 'failed' },
    },
  ],
  [
    'a reply of which nothing was sent',
    {
      kind: 'channel_reply',
      table: 'channel_reply',
      make: async (story) => queuedWith(story, 'channel_reply', await makeReply(inWorkspace(story), { status: 'queued' })),
      ends: { status: 'failed' },
    },
  ],
  [
    'a reply of which a part may have been sent',
    {
      kind: 'channel_reply',
      table: 'channel_reply',
      make: async (story) =>
        queuedWith(story, 'channel_reply', await makeReply(inWorkspace(story), { status: 'sending', parts: [unknownPart] })),
      ends: { status: 'unknown' },
    },
  ],
]

const partsOf = () => {
  const { world, db } = app.workplace
  const agent = agentOf({ db, log: createLog('silent'), openai: undefined, publicUrl: 'http://localhost' }).deps
  return { ...world, failpoints: none, drafter: createComposer(inlineWorker), texts: inlineTexts, agent }
}

describe.each(cases)('%s', (_, { kind, table, make, ends }) => {
  test('ends when its row has failed as often as it may', async () => {
    expect(kindsOfWork[kind].inVain).toBe('ends')
    const story = await newStory(app)
    const id = await make(story)
    const [work] = await app.owner<Work[]>`update work set failures = ${kindsOfWork[kind].failures} where kind = ${kind} and ref_id = ${id}
      returning *`
    const lane = lanesOf(partsOf())[kind] as AnyLane
    const letter = letterOf(async (sql, gate) => (await endInVain({ kinds: workTable }, lane, { sql, gate, work: work! }))!)
    await app.workplace.runtime.ask(story.tenantId, letter)
    expect(await app.owner`select from work where kind = ${kind} and ref_id = ${id}`).toHaveLength(0)
    const [record] = await app.owner`select * from ${app.owner(table)} where id = ${id}`
    expect(record).toMatchObject(ends)
  })
})
