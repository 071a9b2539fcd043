/** What goes on, and what does not, when a conversation with the agent is deleted. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { testStops } from '#test/support/actors/stops'
import { overJob, stepsIn } from '#test/support/agent/agent'
import { plannedModel, planText } from '#test/support/agent/plan'
import { makeConversation } from '#test/support/agent/records'
import { comeDue, makeSchedule, runsOf, scheduleOf } from '#test/support/agent/schedules'
import { channelJobs, devChannel, linked, postDev } from '#test/support/channels/dev-posts'
import { makeReply, makeReplyInDoubt } from '#test/support/channels/replies'
import { eventually } from '#test/support/eventually'
import { fakeMcp } from '#test/support/mcp/client'
import { serverAdmin } from '#test/support/mcp/servers'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const mcp = fakeMcp()
const stops = testStops()
const app = useApp({
  model: plannedModel(() => stops.at('test.asked')),
  overrides: { mcpClient: mcp },
})
const SEARCHES = 'shop__search'
const SAYS_NOTHING = planText([])

const arranged = async () => {
  const { tenantId, key } = await app.newWorkspace()
  const owner = await signedIn(app, tenantId, 'owner')
  const send = (method: string, path: string, body?: unknown) =>
    app.send(method, `/api/v1/agent/${path}`, {
      key: owner.key,
      ...(body === undefined ? {} : { body }),
    })
  return { workspace: { app, tenantId, key, session: owner.key }, tenantId, owner, send }
}

test('a call on the wire is listed and takes its outcome, and nothing further is called', async () => {
  const { tenantId, send } = await arranged()
  const { ruled } = await serverAdmin(app, tenantId)
  await ruled([SEARCHES])
  const { promise, resolve } = Promise.withResolvers<{ text: string; isError: boolean }>()
  mcp.answer = () => promise
  const content = planText(['boots', 'hats'].map((query) => [[SEARCHES, { query }]]) as never)
  const { job } = (await send('POST', 'messages', { content })).body
  await eventually(
    () => mcp.calls.length,
    (count) => count === 1,
  )
  const { status, body } = await send('DELETE', `conversations/${job.conversationId}`)
  expect([status, body.in_flight]).toEqual([
    200,
    [{ job_id: job.id, tool: SEARCHES, origin: 'manual', since: expect.any(String) }],
  ])
  resolve({ text: 'Found.', isError: false })
  const done = await eventually(
    async () =>
      (await stepsIn(app, job.id)).filter(({ kind }) => kind === 'tool').map(({ state }) => state),
    ([first]) => first === 'done',
  )
  expect([done, mcp.calls.length]).toEqual([['done'], 1])
  expect((await overJob(app, job.id)).status).toBe('cancelled')
})

test('a job whose model is being asked is cancelled, and what the model answers is said nowhere', async () => {
  const { send } = await arranged()
  const stopped = stops.stopNext('test.asked')
  const { job } = (await send('POST', 'messages', { content: SAYS_NOTHING })).body
  const goOn = await stopped
  expect((await send('DELETE', `conversations/${job.conversationId}`)).status).toBe(200)
  goOn()
  expect((await overJob(app, job.id)).status).toBe('cancelled')
  await eventually(
    () => app.owner`select from work where kind = 'agent' and ref_id = ${job.id}`,
    (rows) => rows.length === 0,
  )
  const said =
    await app.owner`select role from agent_message where conversation_id = ${job.conversationId}`
  expect(said.map(({ role }) => role)).toEqual(['user'])
})

describe('in a channel', () => {
  test('the next message of its thread begins a new conversation, and whoever waits is told', async () => {
    const { tenantId, owner, send } = await arranged()
    const channel = await devChannel(app, {}, tenantId)
    await linked(app, channel, 'ada', owner.personId)
    await postDev(app.url, channel, { text: SAYS_NOTHING })
    const [first] = await channelJobs(app, channel)
    await overJob(app, first!.id)
    const stopped = stops.stopNext('test.asked')
    await postDev(app.url, channel, { text: SAYS_NOTHING })
    const goOn = await stopped
    const second = (await channelJobs(app, channel))[1]!
    expect(second.conversation_id).toBe(first!.conversation_id)
    expect((await send('DELETE', `conversations/${first!.conversation_id}`)).status).toBe(200)
    goOn()
    const told = () =>
      app.send('GET', `/api/v1/channels/replies?jobId=${second.id}`, { key: owner.key })
    const { replies } = await eventually(
      async () => (await told()).body,
      (body) => body.replies.length === 1 && body.replies[0].status === 'sent',
    )
    expect(replies[0].text).toContain('cancelled')
    await postDev(app.url, channel, { text: SAYS_NOTHING })
    const third = (await channelJobs(app, channel))[2]!
    expect(third.conversation_id).not.toBe(first!.conversation_id)
    expect((await overJob(app, third.id)).status).toBe('completed')
    expect(
      (await send('GET', `conversations/${third.conversation_id}`)).body.messages,
    ).toHaveLength(2)
  })

  test('a held reply of it is discarded, and those of others are not; words of sent ones are hidden', async () => {
    const { workspace, owner, send } = await arranged()
    const { id } = await makeConversation(workspace)
    const [held, sent, other] = [
      await makeReply(workspace, { conversation_id: id }),
      await makeReply(workspace, { conversation_id: id, status: 'sent' }),
      await makeReply(workspace, { conversation_id: newId() }),
    ]
    expect((await send('DELETE', `conversations/${id}`)).body.in_flight).toEqual([])
    const shown = async (reply: string) =>
      (await app.send('GET', `/api/v1/channels/replies/${reply}`, { key: owner.key })).body.reply
    const hidden = '(said in a conversation that was deleted)'
    expect(await shown(held)).toMatchObject({
      status: 'discarded',
      error: 'its conversation was deleted',
      text: hidden,
    })
    expect(await shown(sent)).toMatchObject({ status: 'sent', text: hidden })
    expect(await shown(other)).toMatchObject({ status: 'held', text: 'We open at *nine*.' })
    const again = await app.send('POST', `/api/v1/channels/replies/${held}/send`, {
      key: owner.key,
      body: {},
    })
    expect(again.status).toBe(409)
  })

  test('nothing of it is sent again: neither what failed, nor what a person says did not arrive', async () => {
    const { workspace, owner, send } = await arranged()
    const { id: conversation_id } = await makeConversation(workspace)
    const failed = await makeReply(workspace, { conversation_id, status: 'failed' })
    const { id: doubtful, updatedAt } = await makeReplyInDoubt(workspace, { conversation_id })
    expect((await send('DELETE', `conversations/${conversation_id}`)).status).toBe(200)
    const decide = (reply: string, verb: string, body: object) =>
      app.send('POST', `/api/v1/channels/replies/${reply}/${verb}`, { key: owner.key, body })
    const again = await decide(failed, 'send', {})
    expect([again.status, again.body.error.message]).toEqual([
      409,
      expect.stringContaining('conversation of the reply was deleted'),
    ])
    const settled = (await decide(doubtful, 'settle', { outcome: 'not_arrived', updatedAt })).body
      .reply
    expect(settled).toMatchObject({
      status: 'discarded',
      parts: [{ state: 'failed', error: 'its conversation was deleted' }],
    })
    expect(await app.owner`select from work where ref_id in (${failed}, ${doubtful})`).toHaveLength(
      0,
    )
  })
})

describe('a schedule goes on', () => {
  const ran = async (workspace: Parameters<typeof comeDue>[0], id: string, count: number) => {
    await comeDue(workspace, id)
    const runs = await eventually(
      () => runsOf(workspace, id),
      (all) => all.length === count,
    )
    await overJob(app, runs.at(-1)!.id)
    return (await scheduleOf(workspace, id))!.conversation_id!
  }

  test.each(['workspace', 'private'] as const)(
    'in a new conversation that is as visible as the one before: %s',
    async (visibility) => {
      const { workspace, owner, send } = await arranged()
      const friend = await signedIn(app, workspace.tenantId, 'viewer')
      const by = { kind: 'session', id: owner.sessionId, personId: owner.personId } as const
      const { id } = await makeSchedule(workspace, { goal: SAYS_NOTHING, by })
      const first = await ran(workspace, id, 1)
      expect((await send('PATCH', `conversations/${first}`, { visibility })).status).toBe(200)
      if (visibility === 'private')
        await send('PUT', `conversations/${first}/people/${friend.personId}`)
      expect((await send('DELETE', `conversations/${first}`)).status).toBe(200)
      const next = await ran(workspace, id, 2)
      expect(next).not.toBe(first)
      const { body } = await send('GET', `conversations/${next}`)
      expect(body.conversation).toMatchObject({
        visibility,
        startedBy: owner.personId,
        origin: 'schedule',
      })
      expect(body.conversation.people).toEqual(visibility === 'private' ? [friend.personId] : [])
      expect(body.messages.length).toBeGreaterThan(1)
      expect((await send('GET', `conversations/${first}`)).status).toBe(404)
    },
  )
})
