/**
 * Calls that wait for a person and bind to what was seen, and calls that somebody makes needless by
 * deciding about their record.
 */
import { beforeEach, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { asKey, overJob, stepsIn, turn } from '#test/support/agent/agent'
import { plannedModel, planText } from '#test/support/agent/plan'
import { eventually, type Reply } from '#test/support/app'
import { newWorkspace } from '#test/support/contract/prepare'
import { insertItem } from '#test/support/database/writes'
import { resultsIn } from '#test/support/model/scripted-model'
import { type SignedIn, signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const failing = { times: 0 }
const model = plannedModel()
const app = useApp({
  overrides: {
    thinker: model,
    async failpoints(name) {
      if (name === 'agent.executing' && failing.times-- > 0) throw new Error('the letter fails')
    },
  },
})

let tenantId: string
let ann: SignedIn
let bob: SignedIn
beforeEach(async () => {
  tenantId = (await newWorkspace(app)).tenantId
  ann = await signedIn(app, tenantId, 'owner')
  bob = await signedIn(app, tenantId, 'approver')
})

type Call = [tool: string, more?: Record<string, unknown>]
interface Asked {
  id: string
  job: string
  item: string
}

const approvalsOf = (job: string) =>
  app.owner<{ id: string }[]>`select a.id from agent_approval a
    join agent_step s on s.id = a.step_id where a.job_id = ${job} order by s.number`

/** A job that asks for these calls, each about a draft of its own or all about one. */
const asking = async (calls: Call[], item?: string): Promise<Asked[]> => {
  const items: string[] = []
  for (const _ of calls) items.push(item ?? (await insertItem(app, tenantId)))
  const plan = calls.map(([tool, more]): [string, Record<string, unknown>] => [
    tool,
    { id: items.shift()!, ...more },
  ])
  const by = await asKey(app, tenantId)
  const job = await turn(app, { content: planText([plan]), by, tenantId })
  const rows = await eventually(
    () => approvalsOf(job),
    ({ length }) => length === calls.length,
  )
  return [...rows].map(({ id }, index) => ({ id, job, item: plan[index]![1].id as string }))
}

const approving: Call[] = [['growth_approve_item']]
const send = (who: SignedIn, method: string, path: string, body?: object) =>
  app.send(method, path, { key: who.key, ...(body && { body }) })
const onCall = (who: SignedIn, { id }: Asked, how: 'approve' | 'reject', body: object = {}) =>
  send(who, 'POST', `/api/v1/agent/approvals/${id}/${how}`, body)
const onItem = (who: SignedIn, { item }: Asked, how: string, body?: object) =>
  send(who, 'POST', `items/${item}/${how}`, body)
const read = async ({ id }: Asked) =>
  (await send(ann, 'GET', `/api/v1/agent/approvals/${id}`)).body.approval
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const answered = ({ status, body }: Reply<any>) => [status, body.error?.reason ?? null]
const decisionsOn = async ({ item }: Asked) =>
  (
    await app.owner`select operation, actor_kind, detail from audit where ref_id = ${item}
      and operation in ('growth.items.approve', 'growth.items.reject') order by id`
  ).map(({ operation, actor_kind, detail }) => ({ operation, actor_kind, detail }))
const resultOf = async ({ job }: Asked) =>
  (await stepsIn(app, job)).flatMap(({ kind, result }) => (kind === 'tool' ? result!.text : []))

const person = ({ personId: id }: SignedIn) => ({ kind: 'person', id, name: 'Test' })

test.each<[string, Call, (asked: Asked) => Promise<Reply>, string]>([
  [
    'who approves the item',
    ['growth_approve_item'],
    (asked) => onItem(bob, asked, 'approve'),
    'Done already: a person has approved it meanwhile',
  ],
  [
    'who rejects the item',
    ['growth_approve_item'],
    (asked) => onItem(bob, asked, 'reject'),
    'No longer needed: a person has rejected it meanwhile',
  ],
  [
    'who deletes the item',
    ['growth_schedule_item', { post_at: 'next_slot' }],
    ({ item }) => send(bob, 'DELETE', `items/${item}`),
    'No longer needed: a person has deleted it meanwhile',
  ],
  [
    'who decides many at once',
    ['growth_approve_item'],
    ({ item }) => send(bob, 'POST', 'items/bulk', { action: 'reject', items: [{ id: item }] }),
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
      decided_by: bob.personId,
      decider: person(bob),
      outcome: 'moot',
      error: null,
      may_decide: false,
    })
    expect((await overJob(app, asked!.job)).status).toBe('completed')
    const [text] = await resultOf(asked!)
    expect(text).toStartWith(told)
    expect(text).toContain('Nobody refused it')
    // What the model is given has no word of an error or a refusal by a person.
    expect(resultsIn(model.turns.at(-1)!)).toEqual([text!])
    expect(answered(await onCall(ann, asked!, 'approve'))).toEqual([409, 'wrong_state'])
  },
)

test('all calls of a job about one record are settled together, those that stay possible are not', async () => {
  const item = await insertItem(app, tenantId)
  const asked = await asking(
    [['growth_approve_item'], ['growth_approve_item', { post_at: 'next_slot' }]],
    item,
  )
  const [other] = await asking([['growth_schedule_item', { post_at: 'next_slot' }]], item)
  expect((await onItem(bob, asked[0]!, 'approve')).status).toBe(200)
  for (const one of asked) expect((await read(one)).outcome).toBe('moot')
  expect(await read(other!)).toMatchObject({ status: 'pending', outcome: null, decider: null })
  await overJob(app, asked[0]!.job)
  expect(await resultOf(asked[0]!)).toHaveLength(2)
  // The call that waited on is made by the agent, and its approver is named.
  expect((await onCall(ann, other!, 'approve')).status).toBe(200)
  await overJob(app, other!.job)
  const shown = (await send(ann, 'GET', `items/${item}`)).body.item
  const agent = { kind: 'agent', id: other!.job, name: null }
  expect(shown.decision).toMatchObject({ what: 'scheduled', by: agent, allowed_by: person(ann) })
  expect(shown.decisions[0]).toMatchObject({
    operation: 'growth.items.schedule',
    by: agent,
    allowed_by: person(ann),
    surface: 'agent',
  })
  expect(shown.decisions.at(-1)).toMatchObject({ by: person(bob), allowed_by: null })
  const trail = (await send(ann, 'GET', `/api/v1/app/audit?record=${item}`)).body.entries
  expect(trail[0]).toMatchObject({
    who: { kind: 'agent', id: other!.job },
    allowed_by: { id: ann.personId, name: 'Test' },
  })
  expect((await read(other!)).outcome).toBe('done')
})

test('a call that was allowed, and whose record somebody else decides first, is moot as well', async () => {
  const [asked] = await asking(approving)
  failing.times = 1
  expect((await onCall(ann, asked!, 'approve')).body.approval).toMatchObject({
    outcome: 'running',
    decider: person(ann),
  })
  await eventually(
    async () => failing.times,
    (times) => times < 1,
  )
  expect((await onItem(bob, asked!, 'approve')).status).toBe(200)
  await overJob(app, asked!.job)
  expect(await read(asked!)).toMatchObject({
    status: 'approved',
    decided_by: ann.personId,
    decided_how: 'moot',
    decider: person(bob),
    outcome: 'moot',
  })
  expect((await resultOf(asked!))[0]).toStartWith('No longer needed: a person has decided about it')
  expect(await decisionsOn(asked!)).toMatchObject([{ actor_kind: 'person' }])
})

test('a decision binds to the call and to the records as they were shown', async () => {
  const [asked] = await asking(approving)
  const { sha256, subject } = await read(asked!)
  for (const how of ['approve', 'reject'] as const)
    expect(
      answered(await onCall(ann, asked!, how, { expect_sha256: subject.records[0].sha256 })),
    ).toEqual([409, 'stale_call'])
  const changed = await send(bob, 'PATCH', `items/${asked!.item}`, { body: 'Another text.' })
  expect(changed.status).toBe(200)
  const refused = await onCall(ann, asked!, 'approve', { expect_sha256: sha256 })
  expect([refused.status, refused.body.error]).toMatchObject([
    409,
    { code: 'conflict', reason: 'stale_call', by: person(bob), at: expect.any(String) },
  ])
  expect(answered(await onCall(ann, asked!, 'approve', { expect_sha256: subject.sha256 }))).toEqual(
    [409, 'stale_call'],
  )
  expect((await read(asked!)).status).toBe('pending')
  // Without the hash it is approved, and then not carried out.
  expect((await onCall(ann, asked!, 'approve')).status).toBe(200)
  await overJob(app, asked!.job)
  expect(await read(asked!)).toMatchObject({ status: 'approved', outcome: 'stale', error: null })
  // A refusal changes no record.
  const [other] = await asking(approving)
  const seen = (await read(other!)).sha256
  await send(bob, 'PATCH', `items/${other!.item}`, { body: 'Another text.' })
  const rejected = await onCall(ann, other!, 'reject', { expect_sha256: seen })
  expect(rejected.body.approval).toMatchObject({ status: 'rejected', outcome: null })
})

test('an unchanged call is approved by the hash of all of it, or of its text, and its failure shows', async () => {
  const [first] = await asking(approving)
  const { sha256 } = await read(first!)
  expect((await onCall(ann, first!, 'approve', { expect_sha256: sha256 })).status).toBe(200)
  await overJob(app, first!.job)
  expect(await read(first!)).toMatchObject({ outcome: 'done', error: null })
  const [second] = await asking([['growth_schedule_item', { post_at: 'next_slot' }]])
  const { subject } = await read(second!)
  const approved = await onCall(ann, second!, 'approve', { expect_sha256: subject.sha256 })
  expect(approved.status).toBe(200)
  await overJob(app, second!.job)
  expect(await read(second!)).toMatchObject({
    outcome: 'failed',
    error: expect.stringContaining('drafted'),
  })
})

test('two people race over 50 calls and their items: each is decided once, and no decision is lost', async () => {
  const asked: Asked[] = []
  for (let made = 0; made < 5; made++)
    asked.push(...(await asking(Array.from({ length: 10 }, () => approving[0]!))))
  const raced = await Promise.all(
    asked.map(async (one, index) => {
      const how = index % 3 === 0 ? 'reject' : 'approve'
      const { sha256 } = await read(one)
      const [call, item] = await Promise.all([
        onCall(ann, one, 'approve', { expect_sha256: sha256 }),
        onItem(bob, one, how),
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
    if (!isBobs) expect(decisions[0]!.detail.approved_by).toBe(ann.personId)
  }
}, 120_000)

test('a call whose job is called off is not settled again, and a rule is remembered with no moot call', async () => {
  const [asked] = await asking(approving)
  const [cancelled, approved] = await Promise.all([
    send(ann, 'POST', `/api/v1/agent/jobs/${asked!.job}/cancel`),
    onItem(bob, asked!, 'approve'),
  ])
  expect([cancelled.status, approved.status]).toEqual([200, 200])
  expect(['cancel', 'moot']).toContain((await read(asked!)).decided_how)
  expect((await overJob(app, asked!.job)).status).toBe('cancelled')
  const [other] = await asking(approving)
  await onItem(bob, other!, 'reject')
  expect(answered(await onCall(ann, other!, 'approve', { remember: 'workspace' }))).toEqual([
    409,
    'wrong_state',
  ])
  const rules = await app.owner`select 1 from agent_tool_rule where tenant_id = ${tenantId}`
  expect(rules).toHaveLength(0)
})

test('a call of a private conversation is settled by who does not see it, and says nothing of it', async () => {
  const [asked] = await asking(approving)
  await app.owner`update agent_conversation set visibility = 'private', person_id = ${newId()}
    where id = (select conversation_id from agent_job where id = ${asked!.job})`
  expect((await onItem(bob, asked!, 'approve')).status).toBe(200)
  const shown = (await send(bob, 'GET', `/api/v1/agent/approvals/${asked!.id}`)).body.approval
  expect([shown.outcome, shown.goal]).toEqual(['moot', '(said in a private conversation)'])
  expect((await overJob(app, asked!.job)).status).toBe('completed')
})
