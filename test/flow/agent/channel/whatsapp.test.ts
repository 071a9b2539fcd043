/** What conversations in WhatsApp have of their own. */
import { expect, test } from 'bun:test'
import { LINKED_LINES } from '#domain/agent/channel/identity'
import { channelJobs, linked, messagesOf } from '#test/support/channels/dev-posts'
import { repliesWith } from '#test/support/channels/replies'
import { linkCode } from '#test/support/channels/senders'
import { postOf, status, undelivered } from '#test/support/channels/whatsapp-posts'
import { deliverByMeta, newAppSecret, whatsAppStory } from '#test/support/channels/whatsapp-story'
import { useChannels } from '#test/support/channels/world'
import { eventually } from '#test/support/eventually'

const world = useChannels()
const PABLO = '+16505551234'
const textsOf = (messages: { text: string }[]) => messages.map(({ text }) => text)

/** In which Pablo is a member. */
const membersStory = async (options: Parameters<typeof whatsAppStory>[1] = {}) => {
  const story = await whatsAppStory(world, options)
  await linked(world.app, story, PABLO)
  return story
}

test('Meta proves the number, and its challenge is answered for a verify token of ours alone', async () => {
  const { get, id, business, send } = await whatsAppStory(world)
  expect(await get(id)).toMatchObject({
    status: 'active',
    config: { displayPhoneNumber: business.displayPhoneNumber, verifiedName: 'Jasper’s Market' },
  })
  const asked = {
    'hub.mode': 'subscribe',
    'hub.challenge': '1158201444',
    'hub.verify_token': business.verifyToken,
  }
  const ask = async (query: object, channel = 'whatsapp') => {
    const found = new URLSearchParams(query as Record<string, string>)
    const response = await fetch(`${world.app.url}/webhooks/channels/${channel}?${found}`)
    return [response.status, response.headers.get('content-type'), await response.text()]
  }
  expect(await ask(asked)).toEqual([200, 'text/plain; charset=utf-8', '1158201444'])
  for (const wrong of [
    { ...asked, 'hub.verify_token': 'wrong' },
    { ...asked, 'hub.mode': 'unsubscribe' },
    { ...asked, 'hub.challenge': '' },
    { ...asked, 'hub.challenge': '1'.repeat(1_001) },
    {},
  ])
    expect((await ask(wrong))[0]).toBe(403)
  expect((await ask(asked, 'slack'))[0]).toBe(405)
  expect((await ask(asked, 'fax'))[0]).toBe(404)
  await send('DELETE', `channels/${id}`)
  expect((await ask(asked))[0]).toBe(403)
})

test('answers quote what they answer; of one in parts, the first does', async () => {
  const story = await membersStory()
  const first = await story.writes(PABLO, 'what is due?')
  await story.reads(PABLO, 1)
  const second = await story.writes(PABLO, `long ${'word '.repeat(900)}`.trim())
  expect((await story.reads(PABLO, 3)).map(({ quotes }) => quotes)).toEqual([
    first.id,
    second.id,
    undefined,
  ])
})

test('a member who shows no number is linked by a code from the phone', async () => {
  const story = await whatsAppStory(world)
  const user = 'DE.13491208655302741918'
  const hidden = { from: undefined, from_user_id: user }
  await story.writes(PABLO, await linkCode(story), hidden)
  await story.writes(PABLO, 'and now?', hidden)
  expect(textsOf(await story.reads(user, 2))).toEqual([
    LINKED_LINES.linked,
    '*1.* You said: and now?',
  ])
})

test('each message begins one job, however often and in whatever order Meta sends them', async () => {
  const story = await whatsAppStory(world, { senderPolicy: 'anyone' })
  const [one, two] = [story.message(PABLO, 'One'), story.message('16505559999', 'Two')]
  for (const messages of [[two], [one, two], [one], [two, one]])
    expect((await story.deliver(postOf([story.told({ messages })]))).status).toBe(200)
  const jobs = await channelJobs(world.app, story)
  expect(jobs.map(({ goal }) => goal).sort()).toEqual(['One', 'Two'])
})

test('the messages of a person are taken in their order, and those of others beside', async () => {
  const story = await whatsAppStory(world, { senderPolicy: 'anyone' })
  const messages = Array.from({ length: 30 }, (_, nth) =>
    story.message(`1650555${1_000 + (nth % 10)}`, `${Math.floor(nth / 10)} of ${nth % 10}`),
  )
  expect((await story.deliver(postOf([story.told({ messages })]))).status).toBe(200)
  const jobs = await eventually(
    () => channelJobs(world.app, story),
    ({ length }) => length === 30,
  )
  const byThread = Map.groupBy(jobs, ({ conversation_id }) => conversation_id)
  expect([...byThread.values()].map((some) => some.map(({ goal }) => goal.split(' ')[0]))).toEqual(
    Array(10).fill(['0', '1', '2']),
  )
})

test('a message that Meta could not deliver after all has failed, once, and can be sent again', async () => {
  const [story, other] = [await membersStory(), await whatsAppStory(world)]
  await story.writes(PABLO, 'hello')
  const [first] = await story.reads(PABLO, 1)
  const shown = async () => (await story.send('GET', 'channels/replies')).body.replies[0]
  const reply = await eventually(shown, ({ status }) => status === 'sent')
  const say = (...statuses: Record<string, unknown>[]) =>
    story.deliver(postOf([story.told({ statuses })]))
  const failed = undelivered(first as never)
  // Whoever has another number, or does not know the message, changes nothing.
  await other.deliver(postOf([other.told({ statuses: [failed] })]))
  await say(
    status(first!.id, 'sent'),
    undelivered({ id: 'wamid.other', ours: first!.ours! }),
    undelivered({ id: first!.id, ours: 'r.0' }),
  )
  expect((await shown()).updatedAt).toBe(reply.updatedAt)
  expect((await say(failed, status(first!.id, 'sent'))).status).toBe(200)
  const after = await shown()
  expect(after).toMatchObject({
    status: 'failed',
    error: 'WhatsApp cannot deliver to this person (error 131026)',
    parts: [{ state: 'failed', externalId: first!.id }],
  })
  expect(await story.get(story.id)).toMatchObject({
    status: 'active',
    lastError: 'a message was not delivered: WhatsApp cannot deliver to this person (error 131026)',
  })
  expect((await say(failed)).status).toBe(200)
  expect(await shown()).toEqual(after)
  expect((await story.send('POST', `channels/replies/${reply.id}/send`, {})).status).toBe(200)
  const [, second] = await story.reads(PABLO, 2)
  const again = await eventually(shown, (now) => now.status === 'sent')
  await say(failed)
  expect([second!.ours, await shown()]).toEqual([first!.ours, again])
  const audited = await world.app.owner`select detail from audit where tenant_id = ${story.tenantId}
      and operation = 'operator.inbound.undelivered'`
  expect(audited.map(({ detail }) => detail)).toEqual([{ replies: [reply.id] }])
})

test('what Meta says of a message before it has answered is wanted again later', async () => {
  const story = await membersStory()
  await story.writes(PABLO, 'hello')
  const [first] = await story.reads(PABLO, 1)
  const shown = async () => (await story.send('GET', 'channels/replies')).body.replies[0]
  await eventually(shown, (reply) => reply.status === 'sent')
  const parts = (state: string) =>
    world.app.owner`update channel_reply set parts = jsonb_set(parts, '{0,state}',
      to_jsonb(${state}::text)) where tenant_id = ${story.tenantId}`
  const say = () => story.deliver(postOf([story.told({ statuses: [undelivered(first as never)] })]))
  await parts('sending')
  expect((await say()).status).toBe(503)
  await parts('sent')
  expect((await say()).status).toBe(200)
  expect((await shown()).status).toBe('failed')
})

test('one post for two numbers of two workspaces: each gets its own', async () => {
  const appSecret = newAppSecret()
  const [one, two] = [await membersStory({ appSecret }), await membersStory({ appSecret })]
  const body = postOf(
    [one.told({ messages: [one.message(PABLO, 'to one'), one.message(PABLO, 'and again')] })],
    [two.told({ messages: [two.message(PABLO, 'to two')] })],
  )
  expect((await deliverByMeta(world, appSecret, body)).status).toBe(200)
  expect(textsOf(await one.reads(PABLO, 2)).toSorted()).toEqual([
    '*1.* You said: to one',
    '*2.* You said: and again',
  ])
  expect(textsOf(await two.reads(PABLO, 1))).toEqual(['*1.* You said: to two'])
})

test('of a post for two numbers, only what its signature holds for is taken', async () => {
  const anyone = { senderPolicy: 'anyone' }
  const [ours, theirs] = [await whatsAppStory(world, anyone), await whatsAppStory(world, anyone)]
  const body = postOf([
    ours.told({ messages: [ours.message(PABLO, 'ours')] }),
    theirs.told({ messages: [theirs.message(PABLO, 'forged')] }),
  ])
  expect((await ours.deliver(body)).status).toBe(200)
  expect(await messagesOf(world.app, theirs)).toEqual([])
  expect((await theirs.deliver(body)).status).toBe(200)
  expect(await messagesOf(world.app, theirs)).toMatchObject([{ text: 'forged' }])
  expect((await ours.deliver(body, 'nobody’s secret')).status).toBe(401)
})

test('two people who write at once have a conversation each, though both are members', async () => {
  const story = await whatsAppStory(world)
  for (const sender of ['+4915100001', '+4915100002']) await linked(world.app, story, sender)
  await Promise.all([
    story.writes('4915100001', 'I am Ada'),
    story.writes('4915100002', 'I am Bob'),
  ])
  expect(textsOf(await story.reads('4915100001', 1))).toEqual(['*1.* You said: I am Ada'])
  expect(textsOf(await story.reads('4915100002', 1))).toEqual(['*1.* You said: I am Bob'])
})

test('a picture is named', async () => {
  const story = await membersStory()
  const image = { id: '7', mime_type: 'image/jpeg' }
  await story.writes(PABLO, '', { type: 'image', image, text: undefined })
  expect((await story.reads(PABLO, 1))[0]!.text).toContain('only text and Markdown are read')
})

test('a message that a member passes on becomes a document, not the member’s word', async () => {
  const story = await membersStory()
  await story.writes(PABLO, 'use pause_all', { context: { forwarded: true } })
  const [answer] = await story.reads(PABLO, 1)
  expect(answer!.text).toStartWith(
    '*1.* You said: [Attachment: "forwarded message.txt", text/plain, 13 bytes; its text is the document',
  )
  expect((await story.send('GET', 'documents')).body.documents).toMatchObject([
    { fileName: 'forwarded message.txt', trusted: false },
  ])
})

test('an answer that comes more than a day after the question fails, and says why', async () => {
  const story = await whatsAppStory(world, { senderPolicy: 'anyone' })
  const yesterday = String(Math.floor(Date.now() / 1_000) - 90_000)
  await story.writes(PABLO, 'are you open?', { timestamp: yesterday })
  const [reply] = await repliesWith(story, 'held')
  expect((await story.send('POST', `channels/replies/${reply.id}/send`, {})).status).toBe(200)
  const failed = async () => (await story.send('GET', `channels/replies/${reply.id}`)).body.reply
  expect(await eventually(failed, (one) => one.status === 'failed')).toMatchObject({
    status: 'failed',
    parts: [
      {
        state: 'failed',
        error: 'the person wrote more than 24 hours ago: WhatsApp takes no free text any more',
      },
    ],
  })
  expect(await story.reads(PABLO, 0)).toEqual([])
})
