/** Calls that somebody makes needless by deciding about their record, and what jobs hear of it. */
import { expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { newId } from '#kernel/ids'
import { overJob } from '#test/support/agent/agent'
import {
  type Asked,
  type AskedCall,
  answered,
  person,
  useAskedCalls,
} from '#test/support/agent/asked-calls'
import { plannedModel } from '#test/support/agent/plan'
import { eventually, type Reply } from '#test/support/app'
import { insertItem } from '#test/support/database/writes'
import { makeEngagement } from '#test/support/growth/records'
import { inMs, newStory, textOf } from '#test/support/growth/story'
import { lostAnswer, unreliable } from '#test/support/growth/unreliable'
import { resultsIn } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const failing = { times: 0 }
const model = plannedModel()
const app = useApp({
  overrides: {
    thinker: model,
    times: { ...sendTimes, settleMs: 20, windowMs: 60 },
    async failpoints(name) {
      if (name === 'agent.executing' && failing.times-- > 0) throw new Error('the letter fails')
    },
  },
})
const { at, send, asking, askingFor, onCall, onItem, read, decisionsOn, resultsOf } =
  useAskedCalls(app)

test.each<[string, AskedCall, (asked: Asked) => Promise<Reply>, string]>([
  [
    'who approves the item',
    ['growth_approve_item'],
    (asked) => onItem(at.bob, asked, 'approve'),
    'Done already: a person has approved it meanwhile',
  ],
  [
    'who rejects the item',
    ['growth_approve_item'],
    (asked) => onItem(at.bob, asked, 'reject'),
    'No longer needed: a person has rejected it meanwhile',
  ],
  [
    'who deletes the item',
    ['growth_schedule_item', { post_at: 'next_slot' }],
    ({ item }) => send(at.bob, 'DELETE', `items/${item}`),
    'No longer needed: a person has deleted it meanwhile',
  ],
  [
    'who decides many at once',
    ['growth_approve_item'],
    ({ item }) => send(at.bob, 'POST', 'items/bulk', { action: 'reject', items: [{ id: item }] }),
    'No longer needed: a person has rejected it meanwhile',
  ],
])(
  'a call is settled with the act of a person %s, and its job is told so',
  async (_, call, act, told) => {
    const [asked] = await asking([call])
    expect((await act(asked!)).status).toBe(200)
    expect(await read(asked!)).toMatchObject({
      status: 'rejected',
      decided_how: 'moot',
      decided_by: at.bob.personId,
      decider: person(at.bob),
      outcome: 'moot',
      error: null,
      may_decide: false,
    })
    expect((await overJob(app, asked!.job)).status).toBe('completed')
    const [text] = await resultsOf(asked!)
    expect(text).toStartWith(told)
    expect(text).toContain('Nobody refused it')
    // What the model is given has no word of an error or a refusal by a person.
    expect(resultsIn(model.turns.at(-1)!)).toEqual([text!])
    expect(answered(await onCall(at.ann, asked!, 'approve'))).toEqual([409, 'wrong_state'])
  },
)

test('all calls of a job about one record are settled together, those that stay possible are not', async () => {
  const item = await insertItem(app, at.tenantId)
  const asked = await asking(
    [['growth_approve_item'], ['growth_approve_item', { post_at: 'next_slot' }]],
    item,
  )
  const [other] = await asking([['growth_schedule_item', { post_at: 'next_slot' }]], item)
  expect((await onItem(at.bob, asked[0]!, 'approve')).status).toBe(200)
  for (const one of asked) expect((await read(one)).outcome).toBe('moot')
  expect(await read(other!)).toMatchObject({ status: 'pending', outcome: null, decider: null })
  await overJob(app, asked[0]!.job)
  expect(await resultsOf(asked[0]!)).toHaveLength(2)
  // The call that waited on is made by the agent, and its approver is named.
  expect((await onCall(at.ann, other!, 'approve')).status).toBe(200)
  await overJob(app, other!.job)
  const shown = (await send(at.ann, 'GET', `items/${item}`)).body.item
  const agent = { kind: 'agent', id: other!.job, name: null }
  expect(shown.decision).toMatchObject({ what: 'scheduled', by: agent, allowed_by: person(at.ann) })
  expect(shown.decisions[0]).toMatchObject({
    operation: 'growth.items.schedule',
    by: agent,
    allowed_by: person(at.ann),
    surface: 'agent',
  })
  expect(shown.decisions.at(-1)).toMatchObject({ by: person(at.bob), allowed_by: null })
  const trail = (await send(at.ann, 'GET', `/api/v1/app/audit?record=${item}`)).body.entries
  expect(trail[0]).toMatchObject({
    who: { kind: 'agent', id: other!.job },
    allowed_by: { id: at.ann.personId, name: 'Test' },
  })
  expect((await read(other!)).outcome).toBe('done')
})

test('a time that somebody sets makes a call for the same time needless, and none for another', async () => {
  const [soon, other] = [inMs(3_600_000), inMs(7_200_000)]
  const item = await insertItem(app, at.tenantId)
  const [same] = await asking([['growth_schedule_item', { post_at: soon }]], item)
  const [later] = await asking([['growth_schedule_item', { post_at: other }]], item)
  expect((await onItem(at.bob, same!, 'approve')).status).toBe(200)
  expect((await onItem(at.bob, same!, 'schedule', { post_at: soon })).status).toBe(200)
  expect([(await read(same!)).outcome, (await read(later!)).status]).toEqual(['moot', 'pending'])
  await overJob(app, same!.job)
  expect((await resultsOf(same!))[0]).toStartWith('Done already: a person has set this time')
})

test('a call that was allowed, and whose record somebody else decides first, is moot as well', async () => {
  const [asked] = await asking([['growth_approve_item']])
  failing.times = 1
  expect((await onCall(at.ann, asked!, 'approve')).body.approval).toMatchObject({
    outcome: 'running',
    decider: person(at.ann),
  })
  await eventually(
    async () => failing.times,
    (times) => times < 1,
  )
  expect((await onItem(at.bob, asked!, 'approve')).status).toBe(200)
  await overJob(app, asked!.job)
  expect(await read(asked!)).toMatchObject({
    status: 'approved',
    decided_by: at.ann.personId,
    decided_how: 'moot',
    decider: person(at.bob),
    outcome: 'moot',
  })
  expect((await resultsOf(asked!))[0]).toStartWith(
    'No longer needed: a person has decided about it',
  )
  expect(await decisionsOn(asked!)).toMatchObject([{ actor_kind: 'person' }])
})

test('two people race over 50 calls and their items: each is decided once, and no decision is lost', async () => {
  const asked: Asked[] = []
  for (let made = 0; made < 5; made++)
    asked.push(...(await asking(Array.from({ length: 10 }, () => ['growth_approve_item']))))
  const raced = await Promise.all(
    asked.map(async (one, index) => {
      const how = index % 3 === 0 ? 'reject' : 'approve'
      const { sha256 } = await read(one)
      const [call, item] = await Promise.all([
        onCall(at.ann, one, 'approve', { expect_sha256: sha256 }),
        onItem(at.bob, one, how),
      ])
      return { one, call: call.status, item: item.status }
    }),
  )
  for (const job of new Set(asked.map((one) => one.job))) await overJob(app, job)
  for (const { one, call, item } of raced) {
    const [shown, decisions] = [await read(one), await decisionsOn(one)]
    // One decision about the item: that of the person, or that of the agent in whose call it was.
    expect(decisions).toHaveLength(1)
    const isBobs = decisions[0]!.actor_kind === 'person'
    expect([item, isBobs]).toEqual([isBobs ? 200 : 409, isBobs])
    expect(shown.outcome).toBe(isBobs ? 'moot' : 'done')
    expect(shown.status).toBe(call === 200 ? 'approved' : 'rejected')
    expect([200, 409]).toContain(call)
    if (!isBobs) expect(decisions[0]!.detail.approved_by).toBe(at.ann.personId)
  }
}, 120_000)

test('a call whose job is called off is not settled again, and a rule is remembered with no moot call', async () => {
  const [asked] = await asking([['growth_approve_item']])
  const [cancelled, approved] = await Promise.all([
    send(at.ann, 'POST', `/api/v1/agent/jobs/${asked!.job}/cancel`),
    onItem(at.bob, asked!, 'approve'),
  ])
  expect([cancelled.status, approved.status]).toEqual([200, 200])
  // Whoever comes first: a job whose call is moot goes on, and may be over before it is called off.
  const { status } = cancelled.body.job
  const how = status === 'completed' ? ['moot'] : ['cancel', 'moot']
  expect(how).toContain((await read(asked!)).decided_how)
  expect((await overJob(app, asked!.job)).status).toBe(status)
  const [other] = await asking([['growth_approve_item']])
  await onItem(at.bob, other!, 'reject')
  expect(answered(await onCall(at.ann, other!, 'approve', { remember: 'workspace' }))).toEqual([
    409,
    'wrong_state',
  ])
  const rules = await app.owner`select 1 from agent_tool_rule where tenant_id = ${at.tenantId}`
  expect(rules).toHaveLength(0)
})

test('a call of a private conversation is settled by who does not see it, and says nothing of it', async () => {
  const [asked] = await asking([['growth_approve_item']])
  await app.owner`update agent_conversation set visibility = 'private', person_id = ${newId()}
    where id = (select conversation_id from agent_job where id = ${asked!.job})`
  expect((await onItem(at.bob, asked!, 'approve')).status).toBe(200)
  const shown = (await send(at.bob, 'GET', `/api/v1/agent/approvals/${asked!.id}`)).body.approval
  expect([shown.outcome, shown.goal]).toEqual(['moot', '(said in a private conversation)'])
  expect((await overJob(app, asked!.job)).status).toBe('completed')
})

test('calls to resume automation, to post what goes out by its time, and to approve an engagement are overtaken too', async () => {
  const story = await newStory(app)
  at.tenantId = story.tenantId
  at.ann = await signedIn(app, at.tenantId, 'owner')
  await story.send('POST', 'automation/pause-all')
  const engagement = await makeEngagement({ app, ...story, session: at.ann.key })
  const due = await story.scheduled(10)
  const [resuming] = await askingFor([['growth_resume_automation', {}]])
  const [posting] = await askingFor([['growth_post_item', { id: due }]])
  const [engaging] = await askingFor([['growth_approve_engagement', { id: engagement.id }]])
  expect((await send(at.ann, 'POST', 'automation/resume-all')).status).toBe(200)
  expect((await send(at.ann, 'POST', `engagements/${engagement.id}/approve`)).status).toBe(200)
  expect((await story.settled(due, 'posted')).status).toBe('posted')
  for (const [one, by] of [
    [resuming!, person(at.ann)],
    [engaging!, person(at.ann)],
    [posting!, { kind: 'system', id: 'lane', name: null }],
  ] as const)
    expect(await read(one)).toMatchObject({ outcome: 'moot', decider: by })
})

test('a call about a post in doubt is settled by the read that finds the post', async () => {
  const network = unreliable(app)
  const story = await newStory(app)
  at.tenantId = story.tenantId
  at.ann = await signedIn(app, at.tenantId, 'owner')
  const id = await story.approved()
  network.view = (timeline) => ({ ...timeline, posts: [] })
  network.answers.set(textOf(id), lostAnswer)
  await story.send('POST', `items/${id}/post-now`, { body: { wait: 0 } })
  await story.settled(id, 'publish_unconfirmed')
  const [asked] = await askingFor([['growth_mark_item_posted', { id }]])
  network.view = (timeline) => timeline
  await story.settled(id, 'posted')
  expect(await read(asked!)).toMatchObject({
    outcome: 'moot',
    decider: { kind: 'system', id: 'lane', name: null },
  })
})
