/**
 * What other agents got wrong about approvals: calls that ran though they were declined, results at
 * the wrong call, conversations that stood still.
 */
import { expect, test } from 'bun:test'
import type { OnBehalf } from '#domain/agent/job/job'
import { jobOf, overJob, stepsIn, turn, waitingJob } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import { insertItem, makeDue } from '#test/support/database/writes'
import { resultsIn, scriptedModel } from '#test/support/model/scripted-model'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

const failing = { times: 0 }
/** Calls the tools that the message names, in one answer, then says what they gave. */
const model = scriptedModel((asked, answers) => {
  const said = asked.messages.findLast(({ role }) => role === 'user') as { text: string }
  return answers === 0
    ? { calls: JSON.parse(said.text) }
    : { text: resultsIn(asked).join('\n') || 'Fine.' }
})
const app = useApp({
  overrides: {
    thinker: model,
    async failpoints(name) {
      if (name === 'agent.executing' && failing.times-- > 0) throw new Error('the letter fails')
    },
  },
})

const caller = async (): Promise<OnBehalf> => {
  const { id } = await app.newKey(['api:read', 'api:write', 'workspace:use'])
  return { kind: 'key', id, personId: null }
}

interface Asked {
  id: string
  step_id: string
  item: string
}

/** A job that asks to approve so many drafts, and its approvals in the order of the calls. */
const asking = async (count: number): Promise<{ job: string; asked: Asked[]; by: OnBehalf }> => {
  const by = await caller()
  const items: string[] = []
  for (let made = 0; made < count; made++) items.push(await insertItem(app, app.tenantId))
  const job = await turn(app, {
    content: JSON.stringify(items.map((id) => ['growth_approve_item', { id }])),
    by,
  })
  const rows = () => app.owner<
    Asked[]
  >`select a.id, a.step_id, a.arguments->>'id' as item from agent_approval a
    join agent_step s on s.id = a.step_id where a.job_id = ${job} order by s.number`
  return { job, by, asked: [...(await eventually(rows, ({ length }) => length === count))] }
}

const decide = async (
  { id }: Pick<Asked, 'id'>,
  how: 'approve' | 'reject',
  body: object = {},
): Promise<number> =>
  (
    await app.send('POST', `/api/v1/agent/approvals/${id}/${how}`, {
      key: await tokenOf(app, app.tenantId),
      body,
    })
  ).status

const statusOf = async ({ item }: Asked): Promise<string> =>
  (await app.owner<{ status: string }[]>`select status from item where id = ${item}`)[0]!.status

const approvalsOf = async ({ item }: Asked): Promise<number> =>
  (
    await app.owner`select 1 from audit where operation = 'growth.items.approve'
      and ref_id = ${item}`
  ).length

test('a declined tool never runs, the model is told why, and the job goes on', async () => {
  const { job, asked } = await asking(1)
  expect(await decide(asked[0]!, 'reject', { reason: 'Not on a Sunday' })).toBe(200)
  expect(await overJob(app, job)).toMatchObject({ status: 'completed', tool_calls: 0 })
  expect([await statusOf(asked[0]!), await approvalsOf(asked[0]!)]).toEqual(['drafted', 0])
  expect(resultsIn(model.turns.at(-1)!)).toEqual(['A person rejected this call: Not on a Sunday'])
})

test('calls of one answer are decided in any order, one by one; each runs once and has its own result', async () => {
  const { job, asked } = await asking(3)
  const [first, second, third] = asked as [Asked, Asked, Asked]
  expect(await decide(third, 'approve')).toBe(200)
  expect(await decide(first, 'reject', { reason: 'the first' })).toBe(200)
  expect(await decide(second, 'approve')).toBe(200)
  expect((await overJob(app, job)).status).toBe('completed')
  expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([
    'drafted',
    'approved',
    'approved',
  ])
  expect([await approvalsOf(first), await approvalsOf(second), await approvalsOf(third)]).toEqual([
    0, 1, 1,
  ])
  const steps = (await stepsIn(app, job)).filter(({ kind }) => kind === 'tool')
  expect(steps.map(({ state, args }) => [state, args!.id])).toEqual([
    ['rejected', first.item],
    ['done', second.item],
    ['done', third.item],
  ])
  const results = resultsIn(model.turns.at(-1)!)
  expect(results).toHaveLength(3)
  expect(results[0]).toBe('A person rejected this call: the first')
})

test('a letter that fails while it carries out an approved call leaves the approval as it was, and the call happens once', async () => {
  const { job, asked } = await asking(1)
  failing.times = 2
  expect(await decide(asked[0]!, 'approve')).toBe(200)
  expect((await overJob(app, job)).status).toBe('completed')
  expect(failing.times).toBeLessThan(0)
  expect([await statusOf(asked[0]!), await approvalsOf(asked[0]!)]).toEqual(['approved', 1])
  const [approval] =
    await app.owner`select status, decided_how from agent_approval where id = ${asked[0]!.id}`
  expect({ ...approval }).toEqual({ status: 'approved', decided_how: 'person' })
})

/** Makes the same call as a job that waits, in its conversation: "yes, do it". */
const again = async ({ job, asked, by }: Awaited<ReturnType<typeof asking>>) => {
  const { conversation_id } = await jobOf(app, job)
  const calls = [['growth_approve_item', { id: asked[0]!.item }]]
  const second = await turn(app, {
    content: JSON.stringify(calls),
    by,
    conversation: conversation_id!,
  })
  const approvals =
    () => app.owner`select a.id from agent_approval a join agent_job j on j.id = a.job_id
    where j.conversation_id = ${conversation_id} order by a.id`
  return { second, approvals }
}

test('a call that waits for a person is shown to the model, and an equal one asks nothing again', async () => {
  const first = await asking(1)
  const { second, approvals } = await again(first)
  expect((await overJob(app, second)).status).toBe('completed')
  expect(await approvals()).toHaveLength(1)
  const [call] = (await stepsIn(app, second)).filter(({ kind }) => kind === 'tool')
  expect(call).toMatchObject({
    state: 'failed',
    error: expect.stringContaining('waits for a person already'),
  })
  const { messages } = model.turns.at(-1)!
  const at = messages.findLastIndex(({ role }) => role === 'user')
  expect(messages[at - 1]).toMatchObject({
    role: 'assistant',
    text: expect.stringMatching(/wait for a person already.*\n- growth_approve_item: Approve/),
  })
  expect(await decide(first.asked[0]!, 'approve')).toBe(200)
  expect((await overJob(app, first.job)).status).toBe('completed')
  expect([await statusOf(first.asked[0]!), await approvalsOf(first.asked[0]!)]).toEqual([
    'approved',
    1,
  ])
})

test('an equal call on a record that has changed since is asked', async () => {
  const first = await asking(1)
  await app.owner`update item set body = body || ' And more.' where id = ${first.asked[0]!.item}`
  const { second, approvals } = await again(first)
  expect(await eventually(approvals, ({ length }) => length === 2)).toHaveLength(2)
  expect((await waitingJob(app, second)).status).toBe('waiting_approval')
})

test('two equal calls of one answer are asked once', async () => {
  const item = await insertItem(app, app.tenantId)
  const calls = [1, 2].map(() => ['growth_approve_item', { id: item }])
  const job = await turn(app, { content: JSON.stringify(calls), by: await caller() })
  const rows = () =>
    app.owner<
      Asked[]
    >`select id, step_id, arguments->>'id' as item from agent_approval where job_id = ${job}`
  const [asked, ...more] = await eventually(rows, ({ length }) => length > 0)
  expect(more).toEqual([])
  expect(await decide(asked!, 'approve')).toBe(200)
  expect((await overJob(app, job)).status).toBe('completed')
  expect([await statusOf(asked!), await approvalsOf(asked!)]).toEqual(['approved', 1])
})

test('a model is told that a person changed the arguments, and by which name it knows the record', async () => {
  const { job, asked } = await asking(1)
  const other = await insertItem(app, app.tenantId)
  expect(await decide(asked[0]!, 'approve', { arguments: { id: other } })).toBe(200)
  expect((await overJob(app, job)).status).toBe('completed')
  expect([await statusOf(asked[0]!), await statusOf({ ...asked[0]!, item: other })]).toEqual([
    'drafted',
    'approved',
  ])
  const { messages } = model.turns.at(-1)!
  const [{ handles }] = (await app.owner`select c.handles from agent_conversation c
      join agent_job j on j.conversation_id = c.id
    where j.id = ${job}`) as unknown as [{ handles: Record<string, string> }]
  const [name] = Object.entries(handles).find(([, id]) => id === other)!
  expect(messages.at(-2)).toMatchObject({
    role: 'assistant',
    calls: [{ arguments: JSON.stringify({ id: name }) }],
  })
  expect(resultsIn(model.turns.at(-1)!)[0]).toStartWith(
    '(A person changed the arguments of this call before allowing it',
  )
})

/** Says something in the conversation of a job, and gives how the job of that ends. */
const nextTurn = async (job: string): Promise<string> => {
  const { conversation_id } = await jobOf(app, job)
  const { status, body } = await app.send(
    'POST',
    `/api/v1/agent/conversations/${conversation_id}/messages`,
    {
      key: await tokenOf(app, app.tenantId),
      body: { content: 'What is waiting?' },
    },
  )
  expect(status).toBe(201)
  return (await overJob(app, body.job.id)).status
}

interface End {
  come(job: string, asked: Asked): Promise<unknown>
  becomes: object
}

const ends: Record<string, End> = {
  'while a call waits for a person': {
    come: async () => undefined,
    becomes: { status: 'waiting_approval' },
  },
  'after a rejection': {
    come: (_, asked) => decide(asked, 'reject'),
    becomes: { status: 'completed' },
  },
  'after a cancellation': {
    come: async (job) =>
      app.send('POST', `/api/v1/agent/jobs/${job}/cancel`, {
        key: await tokenOf(app, app.tenantId),
      }),
    becomes: { status: 'cancelled' },
  },
  'after nobody has decided in time': {
    async come(job, { id }) {
      await app.owner`update agent_approval set expires_at = now() - interval '1 minute'
        where id = ${id}`
      await makeDue(app, job)
    },
    becomes: { status: 'failed', error: 'approval_expired' },
  },
}

for (const [name, { come, becomes }] of Object.entries(ends))
  test(`a conversation takes the next turn ${name}`, async () => {
    const { job, asked } = await asking(1)
    const now = () => jobOf(app, job)
    await eventually(now, ({ status }) => status === 'waiting_approval')
    await come(job, asked[0]!)
    expect(await nextTurn(job)).toBe('completed')
    expect(await eventually(now, (one) => Bun.deepMatch(becomes, one))).toMatchObject(becomes)
    expect([await statusOf(asked[0]!), await approvalsOf(asked[0]!)]).toEqual(['drafted', 0])
  })
