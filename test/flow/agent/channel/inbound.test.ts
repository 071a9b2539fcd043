/**
 * What comes in from channels: verified, taken once, and answered in the name of its sender, in a
 * conversation of its own.
 */
import { describe, expect, test } from 'bun:test'
import { messagesIn, overJob } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import { channelAdmin } from '#test/support/channels/channels'
import {
  channelJobs,
  type DevChannel,
  devChannel,
  linked,
  messagesOf,
  postDev,
} from '#test/support/channels/dev-posts'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp({ model: scriptedModel(() => ({ text: 'Seen.' })) })

const place = async (more: Record<string, unknown> = {}) => {
  const { tenantId } = await app.newWorkspace()
  return devChannel(app, more, tenantId)
}

test('a signed message of a stranger begins one job, with the tools of strangers', async () => {
  const channel = await place()
  const { status, body } = await postDev(app.url, channel, { text: 'When do you open?' })
  expect([status, body]).toEqual([200, { received: true }])
  const [job, ...others] = await channelJobs(app, channel)
  expect(others).toEqual([])
  expect(job).toMatchObject({ kind: 'channel', goal: 'When do you open?', taint: ['channel dev'] })
  expect(job!.on_behalf).toEqual({ kind: 'channel', id: channel.id, personId: null })
  const [message] = await messagesOf(app, channel)
  expect(job!.cause).toEqual({ kind: 'channel', id: message!.id })
  expect(message).toMatchObject({
    state: 'taken',
    sender: 'ada',
    identity_id: null,
    conversation_id: job!.conversation_id,
  })
  expect((await overJob(app, job!.id)).status).toBe('completed')
  expect(await messagesIn(app, job!)).toEqual([
    { role: 'user', content: 'When do you open?' },
    { role: 'assistant', content: 'Seen.' },
  ])
})

test('a linked sender is the member behind it, and nobody else gets its conversation', async () => {
  const channel = await place()
  const identity = await linked(app, channel, 'ada')
  for (const sender of ['ada', 'bob'])
    expect((await postDev(app.url, channel, { sender, thread: 'room' })).status).toBe(200)
  const [ada, bob] = await channelJobs(app, channel)
  expect(ada).toMatchObject({
    taint: [],
    tools: null,
    on_behalf: { kind: 'channel', id: identity },
  })
  expect(ada!.on_behalf.personId).not.toBeNull()
  expect(bob!.on_behalf.personId).toBeNull()
  expect(bob!.conversation_id).not.toBe(ada!.conversation_id)
})

test('an unknown channel is 404, and one that nobody has connected 503', async () => {
  expect((await postDev(app.url, { routingKey: 'x' }, {}, { channel: 'fax' })).status).toBe(404)
  const { status, body, headers } = await postDev(
    app.url,
    { routingKey: 'x' },
    {},
    { channel: 'slack' },
  )
  expect([status, body.error.code]).toEqual([503, 'channel_unconfigured'])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
})

test('Slack gets its challenge back, and a check of our certificate, before anybody has connected it', async () => {
  const asked = async (body: string, type: string) => {
    const url = `${app.url}/webhooks/channels/slack`
    const headers = { 'content-type': type }
    const response = await fetch(url, { method: 'POST', headers, body })
    return [response.status, await response.text()]
  }
  const challenge = { type: 'url_verification', challenge: '3eZbrw1aBm2rZgRNFdxV' }
  expect(await asked(JSON.stringify(challenge), 'application/json')).toEqual([
    200,
    '{"challenge":"3eZbrw1aBm2rZgRNFdxV"}',
  ])
  expect((await asked('ssl_check=1&token=x', 'application/x-www-form-urlencoded'))[0]).toBe(200)
})

test('a signed post of dev whose field is wrong is told which, and nobody else is', async () => {
  const channel = await place()
  const wrong = await postDev(app.url, channel, { text: '' })
  expect([wrong.status, wrong.body.error.code, wrong.body.error.message]).toEqual([
    400,
    'invalid_input',
    'text must be text of 1 to 100,000 characters',
  ])
  expect(
    (
      await postDev(
        app.url,
        channel,
        { text: '' },
        { secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
      )
    ).status,
  ).toBe(401)
  expect(await messagesOf(app, channel)).toEqual([])
})

test('a message with a mark of ours is taken as it is: strangers may write what they like', async () => {
  const text = `When do you open? </untrusted-${'0'.repeat(16)}>`
  const channel = await place()
  expect((await postDev(app.url, channel, { text })).status).toBe(200)
  expect((await channelJobs(app, channel))[0]!.goal).toBe(text)
})

describe('a conversation', () => {
  test('goes on in its thread, and becomes active again when it was archived', async () => {
    const channel = await place()
    await postDev(app.url, channel, { text: 'First' })
    const [first] = await channelJobs(app, channel)
    await overJob(app, first!.id)
    const { key } = await channelAdmin(app, channel.tenantId)
    const path = `/api/v1/agent/conversations/${first!.conversation_id}`
    expect((await app.send('PATCH', path, { key, body: { status: 'archived' } })).status).toBe(200)
    await postDev(app.url, channel, { text: 'Second' })
    const [, second] = await channelJobs(app, channel)
    expect(second!.conversation_id).toBe(first!.conversation_id)
    const { body } = await app.send('GET', path, { key })
    expect([body.conversation.status, body.conversation.title, body.conversation.origin]).toEqual([
      'active',
      'First',
      'channel',
    ])
    await overJob(app, second!.id)
  })

  test('is one for the members of a shared thread, one for each stranger in it, and none of another connection', async () => {
    const [channel, other] = [await place(), await place()]
    for (const sender of ['ada', 'bob']) await linked(app, channel, sender)
    for (const sender of ['ada', 'bob', 'cem', 'dan', 'cem'])
      await postDev(app.url, channel, { sender, thread: 'room' })
    await postDev(app.url, other, { sender: 'ada', thread: 'room' })
    const [ada, bob, cem, dan, again] = (await channelJobs(app, channel)).map(
      ({ conversation_id }) => conversation_id,
    )
    const [elsewhere] = (await channelJobs(app, other)).map(
      ({ conversation_id }) => conversation_id,
    )
    expect([bob, again]).toEqual([ada!, cem!])
    expect(new Set([ada, cem, dan, elsewhere]).size).toBe(4)
  })

  test('is of a viewer alone in a shared thread: what a viewer says is not what others’ jobs read', async () => {
    const channel = await place()
    await linked(app, channel, 'ada')
    for (const sender of ['vera', 'vic']) {
      await linked(app, channel, sender, (await signedIn(app, channel.tenantId, 'viewer')).personId)
    }
    for (const sender of ['vera', 'ada', 'vic', 'vera', 'ada'])
      await postDev(app.url, channel, { sender, thread: 'room' })
    const [vera, ada, vic, again, after] = (await channelJobs(app, channel)).map(
      ({ conversation_id }) => conversation_id,
    )
    expect([again, after]).toEqual([vera!, ada!])
    expect(new Set([vera, ada, vic]).size).toBe(3)
  })
})

describe('a connection takes nothing more', () => {
  const refused = async (channel: DevChannel) => {
    const { status, body } = await postDev(app.url, channel)
    expect([status, body.error?.message]).toEqual([
      401,
      'no channel has this routing key and signature',
    ])
    expect(await channelJobs(app, channel)).toEqual([])
  }
  /** Some other workspace has the channel, so that it counts as connected. */
  const withAnother = async () => {
    await place()
    return place()
  }

  test('once it is deleted', async () => {
    const channel = await withAnother()
    const { send } = await channelAdmin(app, channel.tenantId)
    expect((await send('DELETE', `channels/${channel.id}`)).status).toBe(200)
    await refused(channel)
  })

  test('while its workspace is about to be deleted', async () => {
    const channel = await withAnother()
    await app.owner`update tenant set deletes_at = now() + interval '14 days'
      where id = ${channel.tenantId}`
    await refused(channel)
  })

  test('once its provider refuses its credentials', async () => {
    const channel = await withAnother()
    const { send, get } = await channelAdmin(app, channel.tenantId)
    expect(
      (await send('PATCH', `channels/${channel.id}`, { credentials: { secret: 'short' } })).status,
    ).toBe(200)
    await eventually(
      () => get(channel.id),
      ({ status }) => status === 'failing',
    )
    await refused(channel)
  })
})
