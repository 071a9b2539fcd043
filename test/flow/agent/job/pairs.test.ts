/**
 * Something else happens while a job is on its way: a lost right, an edit, a spent budget, a wrong
 * clock, another decision.
 */
import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import type { OnBehalf } from '#domain/agent/job/job'
import { revokeKey } from '#store/app/keys'
import { jobOf, messagesIn, overJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { OUTSIDE, stoppableJobs } from '#test/support/agent/outside-tool'
import type { Plan } from '#test/support/agent/plan'
import {
  type AgentStory,
  ask,
  learned,
  newAgentStory,
  notesAndOutside,
} from '#test/support/agent/story'
import { eventually } from '#test/support/app'
import { insertItem, makeDue, setKeyScopes, setPlan, setRole } from '#test/support/database/writes'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const { stops, sent, overrides } = stoppableJobs()
const app = useApp({ overrides: { ...overrides, sweepMs: 20 } })
const HOUR_MS = 3_600_000

interface Member {
  story: AgentStory
  personId: string
  /** Of their session. */
  key: string
}

/** A story in which a person asks. */
const newMember = async (role?: 'owner' | 'editor'): Promise<Member> => {
  const story = await newAgentStory(app)
  const { personId, sessionId, key } = await signedIn(app, story.tenantId, role)
  const by: OnBehalf = { kind: 'session', id: sessionId, personId }
  return { story: { ...story, by }, personId, key }
}

/** Asks, and stops the job there. */
const stoppedAt = async (
  story: AgentStory,
  plan: Plan,
  ...at: [failpoint: string, nth?: number]
) => {
  const stopped = stops.stopNext(...at)
  const id = await ask(app, story, plan)
  return { id, goOn: await stopped }
}

/** A call, in one answer with a call outside that comes first. */
const afterSending = (text: string, call: Plan[number][number]): Plan => [
  [[OUTSIDE, { text }], call],
]

const pendingOf = async (jobId: string): Promise<string> => {
  const rows = () =>
    app.owner`select id from agent_approval where job_id = ${jobId} and status = 'pending'`
  return (await eventually(rows, ({ length }) => length > 0))[0]!.id
}
const decide = (id: string, how: 'approve' | 'reject', key: string) =>
  app.send('POST', `/api/v1/agent/approvals/${id}/${how}`, { key, body: {} })

/** The workspace looks for due work. */
const wake = ({ story: { key } }: Member) => app.send('POST', 'automation/resume-all', { key })

/** A job that asks to approve a draft. */
const asking = async (member: Member) => {
  const item = await insertItem(app, member.story.tenantId)
  const id = await ask(app, member.story, [[['growth_approve_item', { id: item }]]])
  return { id, item, approval: await pendingOf(id) }
}
const statusOf = async (item: string): Promise<string> =>
  (await app.owner`select status from item where id = ${item}`)[0]!.status
const errorsIn = async (jobId: string): Promise<(string | null)[]> =>
  (
    await app.owner`select error from agent_step where job_id = ${jobId} and kind = 'tool'
      order by number`
  ).map(({ error }) => error)

afterEach(async () => expect(await brokenInvariants(app.owner)).toEqual([]))

describe('P3, from the next step on', () => {
  test('nothing is done for a person who has left', async () => {
    const { story, personId } = await newMember()
    const { id, goOn } = await stoppedAt(story, notesAndOutside(story), 'agent.claimed', 2)
    await app.owner`delete from member where person_id = ${personId}`
    goOn()
    expect(await overJob(app, id)).toMatchObject({ status: 'failed', error: 'caller_gone' })
    expect(sent).not.toContain(story.tenantId)
  })

  test('nothing is done for a key that was revoked', async () => {
    const story = await newAgentStory(app)
    const { id, goOn } = await stoppedAt(story, notesAndOutside(story), 'agent.thought')
    await revokeKey(app.workplace.db, story.by.id)
    goOn()
    expect(await overJob(app, id)).toMatchObject({ status: 'failed', error: 'caller_gone' })
    expect(await learned(app, story)).toEqual([])
  })

  test('commands fail that were allowed before, once their person may only read', async () => {
    const { story, personId } = await newMember('editor')
    const note = { kind: 'worked', note: 'Numbers first' }
    const plan: Plan = [
      [
        ['growth_list_learnings', {}],
        ['growth_add_learning', note],
      ],
      [['growth_add_learning', note]],
    ]
    const { id, goOn } = await stoppedAt(story, plan, 'agent.claimed', 2)
    await setRole(app, personId, 'viewer')
    goOn()
    expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
    expect(await errorsIn(id)).toEqual([
      null,
      'the caller may not do this any more',
      'there is no tool growth_add_learning in this job',
    ])
    expect(await learned(app, story)).toEqual([])
  })

  test('nothing is read for a key that may not read any more', async () => {
    const story = await newAgentStory(app)
    const { id, goOn } = await stoppedAt(
      story,
      afterSending('before a read', ['growth_list_learnings', {}]),
      'test.sent',
    )
    await setKeyScopes(app, story.by.id, ['workspace:use'])
    goOn()
    await overJob(app, id)
    expect(await errorsIn(id)).toEqual([null, 'the caller may not do this any more'])
  })

  test('a call is not made in the name of who approved it and may not do it any more', async () => {
    const member = await newMember()
    const approver = await signedIn(app, member.story.tenantId, 'approver')
    const item = await insertItem(app, member.story.tenantId)
    const calls = afterSending(`before ${item}`, ['growth_approve_item', { id: item }])
    const { id, goOn } = await stoppedAt(member.story, calls, 'test.sent')
    expect((await decide(await pendingOf(id), 'approve', approver.key)).status).toBe(200)
    await setRole(app, approver.personId, 'viewer')
    goOn()
    await overJob(app, id)
    expect(await errorsIn(id)).toEqual([null, 'who approved this may not do it any more'])
    expect(await statusOf(item)).toBe('drafted')
  })
})

test('P4, a draft is edited after it was shown: its approval does nothing', async () => {
  const member = await newMember()
  const { id, item, approval } = await asking(member)
  await app.owner`update item set body = 'Something else.' where id = ${item}`
  expect((await decide(approval, 'approve', member.key)).status).toBe(200)
  await overJob(app, id)
  expect((await errorsIn(id))[0]).toStartWith('changed since it was shown')
  const [decided] =
    await app.owner`select status, decided_how from agent_approval where job_id = ${id}`
  expect({ ...decided }).toEqual({ status: 'approved', decided_how: 'stale' })
  expect(await statusOf(item)).toBe('drafted')
})

test('P5, the budget is gone: what the model has called is still done, and the job ends with a notice', async () => {
  const story = await newAgentStory(app)
  const { id, goOn } = await stoppedAt(story, notesAndOutside(story), 'agent.thought')
  await setPlan(app, story.tenantId, { overrides: { agent_tokens_day: 1 } })
  goOn()
  const job = await overJob(app, id)
  expect(job).toMatchObject({ status: 'failed', error: 'budget_exhausted:agent_tokens_day' })
  expect(await learned(app, story)).toHaveLength(2)
  expect((await messagesIn(app, job)).at(-1)!.content).toContain('agent_tokens_day')
})

describe('P6, the clock of this process', () => {
  afterEach(() => void setSystemTime())

  test.each([
    ['an hour ahead', HOUR_MS],
    ['an hour behind', -HOUR_MS],
  ])('is %s: the database decides when an approval expires', async (_, ms) => {
    const member = await newMember()
    const [due, later] = [await asking(member), await asking(member)]
    await app.owner`update agent_approval set expires_at = clock_timestamp() + interval '30 minutes'
      where id = ${later.approval}`
    await app.owner`update agent_approval set expires_at = clock_timestamp() - interval '1 minute'
      where id = ${due.approval}`
    expect((await decide(due.approval, 'approve', member.key)).status).toBe(409)
    setSystemTime(new Date(Date.now() + ms))
    for (const { id } of [due, later]) await makeDue(app, id, { kind: 'agent' })
    await wake(member)
    expect(await overJob(app, due.id)).toMatchObject({
      status: 'failed',
      error: 'approval_expired',
    })
    const [row] =
      await app.owner`select status, decided_how from agent_approval where id = ${due.approval}`
    expect([row, await statusOf(due.item)]).toEqual([
      { status: 'rejected', decided_how: 'expiry' },
      'drafted',
    ] as never)
    const parked = async () =>
      (
        await app.owner<
          { ms: number }[]
        >`select (extract(epoch from run_at - clock_timestamp()) * 1000)::float8 as ms
      from work where kind = 'agent' and ref_id = ${later.id}`
      )[0]!.ms
    expect(await eventually(parked, (left) => left > HOUR_MS / 4)).toBeWithin(
      HOUR_MS / 4,
      (HOUR_MS * 3) / 4,
    )
    expect(await jobOf(app, later.id)).toMatchObject({ status: 'waiting_approval' })
  })
})

test.each([
  [
    'and nothing has been counted since: what is left of the reservation is given back to that day',
    false,
  ],
  ['and the new day is being counted: it stays as it is', true],
])('P7, a day ends while the model is asked, %s', async (_, isCountedSince) => {
  const YESTERDAY = '2020-02-02'
  const story = await newAgentStory(app)
  const counter = async () =>
    (
      await app.owner`select period, used from counter where tenant_id = ${story.tenantId}
        and key = 'agent_tokens_day'`
    )[0]
  const { id, goOn } = await stoppedAt(story, [], 'agent.thought')
  await app.owner`update agent_step set day = ${YESTERDAY} where job_id = ${id}`
  if (!isCountedSince)
    await app.owner`update counter set period = ${YESTERDAY} where tenant_id = ${story.tenantId}
      and key = 'agent_tokens_day'`
  const before = await counter()
  goOn()
  await overJob(app, id)
  expect(await counter()).toEqual(isCountedSince ? before! : { period: YESTERDAY, used: 220 })
})

describe('P9, at once with an approval comes', () => {
  test('a rejection: the first one holds, and the other is told so', async () => {
    const member = await newMember()
    const { id, item, approval } = await asking(member)
    const answers = await Promise.all([
      decide(approval, 'approve', member.key),
      decide(approval, 'reject', member.key),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    await overJob(app, id)
    expect(await statusOf(item)).toBe(answers[0]!.status === 200 ? 'approved' : 'drafted')
  })

  test('a cancellation: the job is cancelled, and what it asked was done wholly or not at all', async () => {
    const member = await newMember()
    const { id, item, approval } = await asking(member)
    const cancel = app.send('POST', `/api/v1/agent/jobs/${id}/cancel`, { key: member.key })
    const [approved] = await Promise.all([decide(approval, 'approve', member.key), cancel])
    const { status } = await overJob(app, id)
    const [step] =
      await app.owner`select state from agent_step where job_id = ${id} and kind = 'tool'`
    expect(['cancelled', 'completed']).toContain(status)
    expect(await statusOf(item)).toBe(step!.state === 'done' ? 'approved' : 'drafted')
    if (approved.status !== 200) expect(step!.state).toBe('cancelled')
  })
})
