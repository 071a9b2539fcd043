/**
 * What a job that a message of a channel has begun says there: its answer, its failure, and what it
 * asks of people.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { ThinkError } from '#port/model/thinker'
import { jobOf, overJob } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import { channelJobs, devChannel, linked, postDev } from '#test/support/channels/dev-posts'
import { replyOnce } from '#test/support/channels/replies'
import { openReceiver } from '#test/support/http/receiver'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const receiver = await openReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())

const LEARNING = { kind: 'worked', note: 'Short posts' }

const SHARED: [string, Record<string, unknown>] = [
  'delegate',
  { goal: 'pause', tools: ['create_webhook_rule'] },
]

/** Until the tests are over. */
const hung = Promise.withResolvers<void>()
afterAll(() => hung.resolve())

/** Does what the message says. */
const model = scriptedModel(async ({ messages }, answers) => {
  const said = messages.findLast(({ role }) => role === 'user')
  const text = said?.role === 'user' ? said.text : ''
  if (text.includes('break')) throw new ThinkError('unauthorized', undefined)
  if (text.includes('hang')) await hung.promise
  if (text.includes('learn') && answers === 0) return { calls: [['growth_add_learning', LEARNING]] }
  if (text.includes('share') && answers === 0)
    return {
      calls: [SHARED, ['create_webhook_rule', { name: 'Returns', goal: 'Say what came back' }]],
    }
  if (text.includes('pause') && answers === 0)
    return { calls: [['create_webhook_rule', { name: 'Orders', goal: 'Say what was ordered' }]] }
  return { text: 'We open at **nine**.' }
})

const app = useApp(() => ({
  model,
  env: { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` },
}))

const place = async (more: Record<string, unknown> = {}, { isLinked = false } = {}) => {
  const { tenantId } = await app.newWorkspace()
  const { config = {}, ...rest } = more
  /** Of this place alone: an answer of the test before may come while this one runs. */
  const path = `/${newId()}`
  const url = new URL(path, receiver.url).href
  const channel = await devChannel(
    app,
    { ...rest, config: { url, ...(config as object) } },
    tenantId,
  )
  const { key, personId } = await signedIn(app, tenantId, 'owner')
  if (isLinked) await linked(app, channel, 'ada', personId)
  const send = (method: string, path: string, body?: unknown) =>
    app.send(method, `/api/v1/${path}`, { key, ...(body === undefined ? {} : { body }) })
  const ask = async (text: string, more: Record<string, unknown> = {}) => {
    expect((await postDev(app.url, channel, { text, ...more })).status).toBe(200)
    return (await channelJobs(app, channel)).at(-1)!
  }
  const replies = () =>
    app.owner<
      {
        id: string
        status: string
        text: string
        job_id: string
        recipient: string
        message_id: string
        conversation_id: string
      }[]
    >`
      select id, status, text, job_id, recipient, message_id, conversation_id from channel_reply
        where connection_id = ${channel.id} order by id`
  /** Once there are so many. */
  const replied = (count: number) => eventually(replies, (all) => all.length >= count)
  const sent = () =>
    receiver.requests.filter((one) => one.url === path).map(({ body }) => JSON.parse(body))
  return { tenantId, channel, ask, replies, replied, send, sent }
}

describe('the answer', () => {
  test('to a member goes at once, to the sender and thread that asked', async () => {
    const { ask, replied, sent } = await place({}, { isLinked: true })
    const job = await ask('When do you open?', { thread: 'room', name: 'Ada' })
    await overJob(app, job.id)
    const [reply, ...others] = await replied(1)
    expect([reply, others]).toMatchObject([
      {
        text: 'We open at **nine**.',
        job_id: job.id,
        message_id: job.message_id,
        conversation_id: job.conversation_id,
        recipient: 'Ada (ada)',
      },
      [],
    ])
    await replyOnce(app, reply!.id, 'sent')
    expect(sent()).toMatchObject([{ sender: 'ada', thread: 'room', text: 'We open at **nine**.' }])
  })

  test('to a member is for the member alone, once the job has text of people outside and others read the thread', async () => {
    const { ask, replied, sent } = await place({}, { isLinked: true })
    const inRoom = { thread: 'room', name: 'Ada' }
    const job = await ask('When do you open?', inRoom)
    await overJob(app, job.id)
    await replied(1)
    await app.owner`update agent_message set untrusted = true
      where conversation_id = ${job.conversation_id}`
    const next = await ask('And on Sundays?', inRoom)
    await overJob(app, next.id)
    const reply = (await replied(2)).find(({ job_id }) => job_id === next.id)!
    await replyOnce(app, reply.id, 'sent')
    expect(sent().find(({ id }) => id === `${reply.id}.0`)).toMatchObject({
      sender: 'ada',
      thread: null,
      text: expect.stringMatching(/^You asked where others can read\..*nine\*\*\.$/s),
    })
  })

  test('to a stranger waits for a person', async () => {
    const { ask, replied, send, sent, tenantId } = await place()
    const job = await ask('When do you open?')
    const [reply] = await replied(1)
    const why =
      'It answers somebody outside the workspace, and config.reply of the channel is not auto.'
    expect((await send('GET', `channels/replies/${reply!.id}`)).body.reply).toMatchObject({
      status: 'held',
      why,
    })
    await overJob(app, job.id)
    const [event] = await app.owner`select data from outbox where tenant_id = ${tenantId}
        and type = 'growth.approval.requested'`
    expect(event!.data).toMatchObject({
      kind: 'reply',
      reply_id: reply!.id,
      job_id: job.id,
      why,
      url: expect.stringContaining(`/replies/${reply!.id}`),
    })
    expect(sent()).toEqual([])
    expect((await send('POST', `channels/replies/${reply!.id}/send`, {})).status).toBe(200)
    await replyOnce(app, reply!.id, 'sent')
    expect(sent().map(({ text }) => text)).toEqual(['We open at **nine**.'])
  })

  test('to a stranger goes at once where the workspace wants that', async () => {
    const { ask, replied } = await place({ config: { reply: 'auto' } })
    await ask('When do you open?')
    const [reply] = await replied(1)
    await replyOnce(app, reply!.id, 'sent')
  })
})

describe('a failure', () => {
  test('is told to a member', async () => {
    const { ask, replied } = await place({}, { isLinked: true })
    const job = await ask('break')
    expect((await overJob(app, job.id)).status).toBe('failed')
    const [reply] = await replied(1)
    expect(reply!.text).toStartWith(
      'This failed: model_failed: the model provider refused the API key',
    )
  })

  test('is told to no stranger', async () => {
    const { ask, replies } = await place({ config: { reply: 'auto' } })
    const job = await ask('break')
    expect((await overJob(app, job.id)).status).toBe('failed')
    expect(await replies()).toHaveLength(0)
  })

  test('of a job that is cancelled in the app is told as such', async () => {
    const { ask, replied, send } = await place({}, { isLinked: true })
    const job = await ask('hang')
    expect((await send('POST', `agent/jobs/${job.id}/cancel`, {})).status).toBe(200)
    const [reply] = await replied(1)
    expect(reply!.text).toBe('This was cancelled in the app.')
  })
})

describe('what waits for a decision', () => {
  test('is told to the asker once, with the page where to decide, and then what came of it', async () => {
    const { ask, replied, replies, send } = await place({}, { isLinked: true })
    const job = await ask('pause')
    const [told] = await replied(1)
    const [approval] =
      await app.owner`select id, summary from agent_approval where job_id = ${job.id}`
    expect(told!.text).toContain(`/approvals/${approval!.id}`)
    expect(told!.text).toContain(approval!.summary)
    // A word in the channel decides nothing.
    await ask('Yes, approve it')
    expect(
      (await app.owner`select status from agent_approval where id = ${approval!.id}`)[0],
    ).toEqual({ status: 'pending' })
    expect((await send('POST', `agent/approvals/${approval!.id}/approve`, {})).status).toBe(200)
    await overJob(app, job.id)
    const all = await eventually(
      replies,
      (found) => found.filter(({ job_id }) => job_id === job.id).length >= 2,
    )
    expect(
      all.filter(({ job_id }) => job_id === job.id).map(({ text }) => text.includes('/approvals/')),
    ).toEqual([true, false])
  })

  test('is told once of each call, of the job that asks and of the one that it has delegated to', async () => {
    const { ask, replied, replies, send, tenantId } = await place({}, { isLinked: true })
    const job = await ask('share')
    await replied(2)
    const asked = await app.owner<
      { id: string; job_id: string }[]
    >`select id, job_id from agent_approval where tenant_id = ${tenantId}`
    const [ours, theirs] = [
      asked.find(({ job_id }) => job_id === job.id)!,
      asked.find(({ job_id }) => job_id !== job.id)!,
    ]
    expect(asked).toHaveLength(2)
    for (const { id } of [theirs, ours])
      expect((await send('POST', `agent/approvals/${id}/approve`, {})).status).toBe(200)
    expect((await overJob(app, job.id)).status).toBe('completed')
    const pages = (await replies()).flatMap(
      ({ text }) => text.match(/(?<=\/approvals\/)[0-9a-f-]+/g) ?? [],
    )
    expect(pages.toSorted()).toEqual([ours.id, theirs.id].toSorted())
  })
})

test('a job whose connection is gone ends, and says nothing', async () => {
  const { ask, channel, send } = await place({}, { isLinked: true })
  const job = await ask('hang')
  // A job that has not begun when its connection goes fails by that.
  await eventually(
    () => jobOf(app, job.id),
    ({ status }) => status === 'running',
  )
  expect((await send('DELETE', `channels/${channel.id}`)).status).toBe(200)
  expect((await send('POST', `agent/jobs/${job.id}/cancel`, {})).status).toBe(200)
  expect((await overJob(app, job.id)).status).toBe('cancelled')
})
