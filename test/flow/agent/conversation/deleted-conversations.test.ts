/**
 * A conversation that is deleted is gone for everybody, with all that was made of it; owners delete
 * private ones of which they see nothing else.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Role } from '#kernel/roles'
import { SECRET, useSecrets } from '#test/support/agent/secret-conversations'
import { newWorkspace } from '#test/support/contract/prepare'
import { eventually } from '#test/support/eventually'
import { openStream } from '#test/support/http/event-stream'
import { signedIn } from '#test/support/session'

const { app, send, say, keyOf } = useSecrets()

let key: string
const people: Partial<Record<Role | 'starter', string>> = {}
const by = (who: Role | 'starter'): string => people[who]!

const begun = async (
  as: string,
  visibility: 'private' | 'workspace' = 'private',
): Promise<string> => (await say(as, `${SECRET} hello`, { visibility })).job.conversationId

const statusOf = async (as: string, method: string, path: string): Promise<number> =>
  (await send(as, method, path)).status

beforeAll(async () => {
  const { tenantId, ...workspace } = await newWorkspace(app)
  key = workspace.key
  people.starter = (await signedIn(app, tenantId, 'editor')).key
  for (const role of ['owner', 'editor', 'approver', 'viewer'] as const)
    people[role] = (await signedIn(app, tenantId, role)).key
})

/**
 * A conversation with an answer and feedback on it, a job that waits for a person, and one whose
 * child does.
 */
const whole = async () => {
  const first = await say(by('starter'), `${SECRET} hello`)
  const conversationId = first.job.conversationId
  const verdict = { messageId: first.answer.id, verdict: 'down', correction: SECRET }
  expect(
    (await send(by('starter'), 'POST', `conversations/${conversationId}/feedback`, verdict)).status,
  ).toBe(201)
  const waiting = await say(by('starter'), `${SECRET} resume`, { conversationId })
  const parent = await say(by('starter'), `${SECRET} delegate`, { conversationId })
  const asked = await eventually(
    () =>
      app.owner<
        { id: string; job_id: string }[]
      >`select id, job_id from agent_approval where conversation_id = ${conversationId} order by id`,
    (rows) => rows.length === 2,
  )
  const jobs = [first.job.id, waiting.job.id, parent.job.id, asked[1]!.job_id] as string[]
  return {
    conversationId,
    jobs,
    approvals: asked.map(({ id }) => id),
    messageId: first.answer.id as string,
  }
}

/** What asks for one of them, with a body if it changes something. */
const callsOn = ({
  conversationId: id,
  jobs,
  approvals,
  messageId,
}: Awaited<ReturnType<typeof whole>>) => [
  ...['', '/messages', '/events', '/feedback'].map(
    (part) => ['GET', `conversations/${id}${part}`] as const,
  ),
  ['PATCH', `conversations/${id}`, { title: 'Mine' }] as const,
  ['DELETE', `conversations/${id}`] as const,
  ['POST', `conversations/${id}/messages`, { content: 'Hello' }] as const,
  ['POST', `conversations/${id}/feedback`, { messageId, verdict: 'up' }] as const,
  ['POST', 'messages', { content: 'Hello', conversationId: id }] as const,
  ...jobs.flatMap((job) =>
    ['', '/trace', '/events'].map((part) => ['GET', `jobs/${job}${part}`] as const),
  ),
  ...jobs.map((job) => ['POST', `jobs/${job}/cancel`, {}] as const),
  ...approvals.map((approval) => ['GET', `approvals/${approval}`] as const),
  ...approvals.flatMap((approval) =>
    ['approve', 'reject'].map((verb) => ['POST', `approvals/${approval}/${verb}`, {}] as const),
  ),
]

const lists = [
  'conversations',
  'conversations?visibility=private',
  'conversations?status=active',
  'jobs',
  'approvals',
  'feedback',
  'analytics',
]

test('it is 404 to everybody and in no list, with its messages, jobs, steps, traces, streams, feedback and approvals', async () => {
  const made = await whole()
  const removed = await send(by('starter'), 'DELETE', `conversations/${made.conversationId}`)
  expect([removed.status, removed.body.conversation.id, removed.body.in_flight]).toEqual([
    200,
    made.conversationId,
    [],
  ])
  for (const reader of [by('starter'), by('owner'), by('approver'), key]) {
    for (const [method, path, body] of callsOn(made)) {
      const { status, body: answer, text } = await send(reader, method, path, body)
      // Keys decide about no approval.
      const mayCall = !String(answer.error?.message).includes('signed-in person')
      expect([method, path, mayCall ? status : 404]).toEqual([method, path, 404])
      expect(text).not.toContain(SECRET)
    }
    for (const list of lists) {
      const { status, text } = await send(reader, 'GET', list)
      expect([list, status]).toEqual([list, 200])
      for (const hidden of [made.conversationId, made.messageId, ...made.jobs, ...made.approvals])
        expect([list, text.includes(hidden)]).toEqual([list, false])
    }
  }
  const jobs =
    await app.owner`select status from agent_job where id in ${app.owner(made.jobs)} order by id`
  expect(jobs.map(({ status }) => status)).toEqual([
    'completed',
    'cancelled',
    'cancelled',
    'cancelled',
  ])
  expect(
    await app.owner`select from work where kind = 'agent' and ref_id in ${app.owner(made.jobs)}`,
  ).toHaveLength(0)
  const approvals = await app.owner`select status, decided_how from agent_approval
      where id in ${app.owner(made.approvals)}`
  expect(approvals.map((row) => ({ ...row }))).toEqual(
    Array(2).fill({ status: 'rejected', decided_how: 'cancel' }),
  )
})

test('a stream of it ends, and whoever waits for its job is answered', async () => {
  const { job } = await say(by('starter'), `${SECRET} resume`, { visibility: 'private' })
  const path = `conversations/${job.conversationId}`
  await using stream = await openStream(`${app.url}/api/v1/agent/${path}/events`, {
    key: by('starter'),
  })
  expect(stream.response.status).toBe(200)
  expect(await statusOf(by('starter'), 'DELETE', path)).toBe(200)
  await stream.ended()
})

describe('it is deleted', () => {
  test('by whoever began it, viewers included', async () => {
    for (const who of ['starter', 'viewer', 'owner'] as const)
      for (const visibility of ['private', 'workspace'] as const) {
        const path = `conversations/${await begun(by(who), visibility)}`
        expect([
          who,
          await statusOf(by(who), 'DELETE', path),
          await statusOf(by(who), 'DELETE', path),
        ]).toEqual([who, 200, 404])
      }
  })

  test('by owners, and by keys of the workspace where they see it', async () => {
    const open = await begun(by('starter'), 'workspace')
    for (const who of ['editor', 'approver', 'viewer'] as const)
      expect([who, await statusOf(by(who), 'DELETE', `conversations/${open}`)]).toEqual([who, 403])
    expect(await statusOf(key, 'DELETE', `conversations/${open}`)).toBe(200)
    const closed = await begun(by('starter'))
    for (const as of [by('editor'), by('approver'), by('viewer'), key, await keyOf(by('owner'))])
      expect(await statusOf(as, 'DELETE', `conversations/${closed}`)).toBe(404)
    expect(await statusOf(by('starter'), 'GET', `conversations/${closed}`)).toBe(200)
    const { status, body, text } = await send(by('owner'), 'DELETE', `conversations/${closed}`)
    expect([status, body.conversation.hidden, text.includes(SECRET)]).toEqual([200, true, false])
    expect(await statusOf(by('starter'), 'GET', `conversations/${closed}`)).toBe(404)
  })
})

test('a signed-in owner sees that private conversations of others exist, and nothing that was said; nobody else does', async () => {
  const [theirs, own] = [await begun(by('starter')), await begun(by('owner'))]
  const listOf = async (as: string, query = '?visibility=private') => {
    const { body, text } = await send(as, 'GET', `conversations${query}`)
    return { rows: body.conversations as { id: string; hidden: boolean }[], text }
  }
  const { rows } = await listOf(by('owner'))
  const starter = (await listOf(by('starter'))).rows.find(
    ({ id }) => id === theirs,
  ) as unknown as Record<string, unknown>
  expect([starter.hidden, starter.title]).toEqual([false, `${SECRET} hello`])
  expect(rows.find(({ id }) => id === theirs) as unknown).toEqual({
    ...starter,
    title: null,
    people: [],
    hidden: true,
  })
  expect(rows.find(({ id }) => id === own)).toMatchObject({
    hidden: false,
    title: `${SECRET} hello`,
  })
  // By pages as well.
  expect((await listOf(by('owner'), '?visibility=private&limit=1')).rows).toHaveLength(1)
  for (const as of [by('editor'), by('approver'), by('viewer'), key, await keyOf(by('owner'))]) {
    expect((await listOf(as)).rows.map(({ id }) => id)).not.toContain(theirs)
    expect((await listOf(as, '')).text).not.toContain(theirs)
  }
  for (const query of ['', '?status=active', '?visibility=workspace'])
    expect((await listOf(by('owner'), query)).text).not.toContain(theirs)
  for (const path of [`conversations/${theirs}`, `conversations/${theirs}/messages`])
    expect(await statusOf(by('owner'), 'GET', path)).toBe(404)
})
