/**
 * Rows that have failed as often as their kind allows, with their real lanes: their records end by
 * what is known, and never go back.
 */
import { expect, test } from 'bun:test'
import { endInVain } from '#actors/engine/failure'
import type { AnyLane } from '#actors/engine/lane'
import type { WorkKind } from '#contract/work'
import { admitArticle, admitAudit, admitBatch, admitReport } from '#decisions/growth/admission'
import { kindsOfWork, kindsWhere, newWork, workTable } from '#decisions/work'
import { noFailpoints } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { createComposer } from '#port/model/composer/composer'
import { agentOf } from '#server/agent'
import { lanesOf } from '#server/lanes'
import type { Effects, Gate } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { letterOf } from '#test/support/actors/letters'
import { turn } from '#test/support/agent/agent'
import { makeDocument } from '#test/support/agent/documents'
import { write } from '#test/support/arrange'
import { makeChannel } from '#test/support/channels/channels'
import { makeReply } from '#test/support/channels/replies'
import { setItem } from '#test/support/database/writes'
import { othersPost } from '#test/support/growth/records'
import { newStory, type Story } from '#test/support/growth/story'
import { inlineTexts } from '#test/support/model/inline-texts'
import { inlineWorker } from '#test/support/model/inline-worker'
import { useApp } from '#test/support/use'

/** Runs no lanes: its rows stay queued. */
const app = useApp(() => ({ overrides: { lanes: [] } }))

const admitted = async (
  story: Story,
  admit: (asking: { gate: Gate; origin: 'manual' }) => { effects: Effects },
): Promise<string> =>
  app.workplace.runtime.ask(
    story.tenantId,
    letterOf((_, gate) => {
      const { effects } = admit({ gate, origin: 'manual' })
      return { reply: effects.work![0]!.refId, effects }
    }),
  )

const queuedWith = async (
  { tenantId }: Pick<Story, 'tenantId'>,
  kind: WorkKind,
  refId: string,
): Promise<string> => {
  const of = { connection: refId, sendable: 'post', payload: { sendable: 'post' } }
  const row = newWork(kind, {
    refId,
    origin: 'manual',
    runAt: new Date(Date.now() + 3_600_000),
    ...of,
  } as never)
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
const inDoubtReply = { status: 'sending' as const, parts: [unknownPart] }

/** Sends a request and gives the id of what it began work on. */
const began = async (story: Story, path: string, body: object, kind: WorkKind): Promise<string> => {
  const { status, text } = await story.send('POST', path, { body })
  const [row] = await app.owner<
    Work[]
  >`select ref_id from work where tenant_id = ${story.tenantId} and kind = ${kind}`
  return row?.ref_id ?? Promise.reject(new Error(`${status} ${text}`))
}

/** A post that may have been sent. */
const inDoubt = async (story: Story): Promise<string> => {
  const id = await story.approved()
  await setItem(app, id, { status: 'publish_unconfirmed' })
  await app.owner`insert into attempt (id, tenant_id, item_id, number, connection_id, body_sha,
    origin, state, intent_at, lease_until,
      doubt_at, doubt_cause, sendable)
    select ${newId()}, tenant_id, ${id}, 1, id, 'sha', 'manual', 'doubt', now(), now(), now(),
      'no_answer', 'post' from connection
    where tenant_id = ${story.tenantId}`
  return queuedWith(story, 'reconcile', id)
}

const byHand = async (story: Story): Promise<string> => {
  const id = await story.approved()
  return began(
    story,
    `items/${id}/posted`,
    { url: 'https://sandbox.example/status/1' },
    'posted_read',
  )
}

const ruleRun = async (story: Story): Promise<string> => {
  const action = { kind: 'draft_batch', count: 2, focus: 'what came of it' }
  await story.send('POST', 'rules', {
    body: { name: 'Go on', trigger: { kind: 'item_posted' }, action },
  })
  const id = await story.approved()
  return began(story, `items/${id}/posted`, {}, 'rule')
}

const asked = async ({ tenantId }: Story): Promise<string> => {
  const { id } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  return turn(app, { content: 'What is due?', by: { kind: 'key', id, personId: null }, tenantId })
}

/** A message whose text is to be fetched. */
const message = async (story: Story): Promise<string> => {
  const [id, connection] = [newId(), await makeChannel(inWorkspace(story))]
  await app.owner`insert into channel_message
      (id, tenant_id, connection_id, state, sender, thread, reply_to, to_fetch, created_at,
        updated_at)
    values (${id}, ${story.tenantId}, ${connection}, 'fetching', 'ada', 't', '{}', '{}', now(),
      now())`
  return queuedWith(story, 'channel_fetch', id)
}

const document = async (story: Story): Promise<string> =>
  queuedWith(story, 'ingest', (await makeDocument(inWorkspace(story), { status: 'queued' })).id)

const reply = async (story: Story, changes: Parameters<typeof makeReply>[1]): Promise<string> =>
  queuedWith(story, 'channel_reply', await makeReply(inWorkspace(story), changes))

const redraft = async (story: Story): Promise<string> =>
  began(story, `items/${await story.drafted()}/redraft`, { hint: 'shorter' }, 'redraft')

const engagement = async (story: Story): Promise<string> =>
  began(story, 'engagements', { post: await othersPost({ app }), action: 'quote' }, 'engagement')

const report = { week: '2026-11-09', time_zone: 'UTC' }
const generated = { status: 'failed', error: 'enqueue_failed' }
type Make = (story: Story) => Promise<string>
/** The table is named as the kind, if no other is given. */
const cases: [name: string, kind: WorkKind, make: Make, ends: object, table?: string][] = [
  ['a post', 'send', (story) => story.scheduled(86_400_000), { status: 'publish_failed' }, 'item'],
  [
    'a batch',
    'batch',
    (story) => admitted(story, (by) => admitBatch(by, { count: 1, focus: '' })),
    generated,
  ],
  [
    'an article',
    'article',
    (story) =>
      admitted(story, (by) =>
        admitArticle(by, { topic: 'ferries', length: 'short', outline: null }),
      ),
    generated,
  ],
  ['a report', 'report', (story) => admitted(story, (by) => admitReport(by, report)), generated],
  [
    'an audit',
    'growth_audit',
    (story) => admitted(story, (by) => admitAudit(by, { days: 7, given: null })),
    generated,
  ],
  ['a document', 'ingest', document, { status: 'failed' }, 'document'],
  [
    'a reply of which nothing was sent',
    'channel_reply',
    (story) => reply(story, { status: 'queued' }),
    { status: 'failed' },
  ],
  [
    'a reply of which a part may have been sent',
    'channel_reply',
    (story) => reply(story, inDoubtReply),
    { status: 'unknown' },
  ],
  ['a new wording of a draft', 'redraft', redraft, generated],
  ['the draft of an engagement', 'engagement', engagement, generated],
  [
    'the reading of a doubt',
    'reconcile',
    inDoubt,
    { status: 'publish_unconfirmed', review: true },
    'item',
  ],
  [
    'the reading of a post that was made by hand',
    'posted_read',
    byHand,
    { status: 'posted', last_error: 'url_not_read: internal' },
    'item',
  ],
  [
    'the looking up of what a text needs',
    'marks',
    async (story) => queuedWith(story, 'marks', await story.drafted()),
    { status: 'drafted', marks: null },
    'item',
  ],
  ['a run of a rule', 'rule', ruleRun, { status: 'skipped', reason: 'internal_error' }, 'rule_run'],
  ['a turn of the agent', 'agent', asked, generated, 'agent_job'],
  [
    'the fetching of a message',
    'channel_fetch',
    message,
    { state: 'failed', error: 'internal: it could not be read' },
    'channel_message',
  ],
]

test('every kind that ends is here', () => {
  const ending = kindsWhere(({ inVain }) => inVain === 'ends')
  expect([...new Set(cases.map(([, kind]) => kind))].toSorted()).toEqual(ending.toSorted())
})

const partsOf = () => {
  const { world, db, bus } = app.workplace
  const agent = agentOf({
    world,
    db,
    bus,
    log: createLog('silent'),
    openai: undefined,
    publicUrl: 'http://localhost',
  })
  return {
    ...world,
    fetchAllow: [],
    failpoints: noFailpoints,
    drafter: createComposer(inlineWorker),
    texts: inlineTexts,
    agent,
  }
}

test.each(cases)(
  '%s ends when its row has failed as often as it may',
  async (_, kind, make, ends, table = kind) => {
    expect(kindsOfWork[kind].inVain).toBe('ends')
    const story = await newStory(app)
    const id = await make(story)
    const [work] = await app.owner<
      Work[]
    >`update work set failures = ${kindsOfWork[kind].failures} where kind = ${kind}
      and ref_id = ${id}
    returning *`
    const lane = lanesOf(partsOf())[kind] as AnyLane
    const letter = letterOf(
      async (sql, gate) =>
        (await endInVain({ kinds: workTable }, lane, { sql, gate, work: work! }))!,
    )
    await app.workplace.runtime.ask(story.tenantId, letter)
    expect(await app.owner`select from work where kind = ${kind} and ref_id = ${id}`).toHaveLength(
      0,
    )
    const [record] = await app.owner`select * from ${app.owner(table)} where id = ${id}`
    expect(record).toMatchObject(ends)
  },
)
