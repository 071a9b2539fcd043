/**
 * Conversations in WhatsApp, end to end: the posts of a server that plays Meta, and what our number
 * answers.
 */
import { afterAll, expect, test } from 'bun:test'
import { LINKED_LINES } from '#domain/agent/channel/identity'
import { MEMBERS_ONLY } from '#domain/agent/channel/trust'
import { channelJobs, linked, messagesOf } from '#test/support/channels/dev-posts'
import { echo } from '#test/support/channels/echo'
import { openMeta } from '#test/support/channels/whatsapp'
import { postOf, status, undelivered } from '#test/support/channels/whatsapp-posts'
import { deliverByMeta, newAppSecret, whatsAppStory } from '#test/support/channels/whatsapp-story'
import { eventually } from '#test/support/eventually'
import { useApp } from '#test/support/use'

const meta = await openMeta([])
afterAll(() => meta[Symbol.asyncDispose]())

const app = useApp(() => ({
  overrides: { thinker: echo() },
  env: {
    ...{ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' },
    ...{ CHANNEL_URLS: JSON.stringify(meta.urls), EGRESS_ALLOW: new URL(meta.urls.whatsapp).host },
  },
}))

const PABLO = '16505551234'
const textsOf = (messages: { text: string }[]) => messages.map(({ text }) => text)

test('Meta proves the number, and its challenge is answered for a verify token of ours alone', async () => {
  const { get, id, business } = await whatsAppStory(app, meta)
  expect(await get(id)).toMatchObject({
    status: 'active',
    config: { displayPhoneNumber: business.displayPhoneNumber, verifiedName: 'Jasper’s Market' },
  })
  const ask = (token: string) =>
    fetch(
      `${app.url}/webhooks/channels/whatsapp?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${encodeURIComponent(token)}`,
    )
  const answer = await ask(business.verifyToken)
  expect([answer.status, await answer.text()]).toEqual([200, '1158201444'])
  expect((await ask('guess')).status).toBe(403)
})

test('a member talks with the agent, which remembers, and quotes what it answers', async () => {
  const story = await whatsAppStory(app, meta)
  await linked(app, story, `+${PABLO}`)
  const first = await story.writes(PABLO, 'what is due?')
  expect([first.status, first.body]).toEqual([200, '{"received":true}'])
  expect(await story.reads(PABLO, 1)).toMatchObject([
    { text: '*1.* You said: what is due?', quotes: first.id },
  ])
  const second = await story.writes(PABLO, 'use get_current_time')
  expect((await story.reads(PABLO, 2))[1]).toMatchObject({
    text: '*2.* You said: use get_current_time The tool gave 1 result.',
    quotes: second.id,
  })
  const [job] = await channelJobs(app, story)
  expect(job).toMatchObject({
    taint: [],
    on_behalf: { kind: 'channel', personId: expect.any(String) },
  })
})

test('a member is linked by a code from the phone, also one who shows no number', async () => {
  const story = await whatsAppStory(app, meta)
  const user = 'DE.13491208655302741918'
  await story.writes('4915100003', 'hello?')
  expect(textsOf(await story.reads('4915100003', 1))).toEqual([MEMBERS_ONLY])
  const { body } = await story.send('POST', `channels/${story.id}/link-code`)
  const hidden = { from: undefined, from_user_id: user }
  await story.writes('4915100003', body.code, hidden)
  await story.writes('4915100003', 'and now?', hidden)
  expect(textsOf(await story.reads(user, 2))).toEqual([
    LINKED_LINES.linked,
    '*1.* You said: and now?',
  ])
})

test('receipts, reactions and retries begin nothing', async () => {
  const story = await whatsAppStory(app, meta)
  await linked(app, story, `+${PABLO}`)
  const { id, sent } = {
    ...(await story.writes(PABLO, 'once')),
    sent: story.message(PABLO, 'once'),
  }
  for (let time = 0; time < 3; time++)
    expect((await story.writes(PABLO, 'once', { id })).status).toBe(200)
  const [answer] = await story.reads(PABLO, 1)
  const reaction = {
    ...sent,
    id: 'wamid.cmVhY3Rpb24=',
    type: 'reaction',
    reaction: { message_id: answer!.id, emoji: '👍' },
  }
  const receipts = ['sent', 'delivered', 'read'].map((kind) =>
    story.told({ statuses: [status(answer!.id, kind)] }),
  )
  expect(
    (await story.deliver(postOf(receipts, [story.told({ messages: [reaction] })]))).status,
  ).toBe(200)
  await story.writes(PABLO, 'after it')
  expect(textsOf(await story.reads(PABLO, 2))).toEqual([
    '*1.* You said: once',
    '*2.* You said: after it',
  ])
  expect(await channelJobs(app, story)).toHaveLength(2)
})

test('a message that Meta could not deliver after all has failed, once, and can be sent again', async () => {
  const [story, other] = [await whatsAppStory(app, meta), await whatsAppStory(app, meta)]
  await linked(app, story, `+${PABLO}`)
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
    ...{ status: 'failed', error: 'WhatsApp cannot deliver to this person (error 131026)' },
    parts: [{ state: 'failed', externalId: first!.id }],
  })
  expect(await story.get(story.id)).toMatchObject({
    ...{
      status: 'active',
      lastError:
        'a message was not delivered: WhatsApp cannot deliver to this person (error 131026)',
    },
  })
  expect((await say(failed)).status).toBe(200)
  expect(await shown()).toEqual(after)
  expect((await story.send('POST', `channels/replies/${reply.id}/send`, {})).status).toBe(200)
  const [, second] = await story.reads(PABLO, 2)
  const again = await eventually(shown, (now) => now.status === 'sent')
  await say(failed)
  expect([second!.ours, await shown()]).toEqual([first!.ours, again])
  const audited = await app.owner`select detail from audit where tenant_id = ${story.tenantId}
      and operation = 'operator.inbound.undelivered'`
  expect(audited.map(({ detail }) => detail)).toEqual([{ replies: [reply.id] }])
})

test('what Meta says of a message before it has answered is wanted again later', async () => {
  const story = await whatsAppStory(app, meta)
  await linked(app, story, `+${PABLO}`)
  await story.writes(PABLO, 'hello')
  const [first] = await story.reads(PABLO, 1)
  const shown = async () => (await story.send('GET', 'channels/replies')).body.replies[0]
  await eventually(shown, (reply) => reply.status === 'sent')
  const parts = (state: string) =>
    app.owner`update channel_reply set parts = jsonb_set(parts, '{0,state}',
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
  const [one, two] = [
    await whatsAppStory(app, meta, { appSecret }),
    await whatsAppStory(app, meta, { appSecret }),
  ]
  for (const story of [one, two]) await linked(app, story, `+${PABLO}`)
  const body = postOf(
    [one.told({ messages: [one.message(PABLO, 'to one'), one.message(PABLO, 'and again')] })],
    [two.told({ messages: [two.message(PABLO, 'to two')] })],
  )
  expect((await deliverByMeta(app, appSecret, body)).status).toBe(200)
  expect(textsOf(await one.reads(PABLO, 2)).toSorted()).toEqual([
    '*1.* You said: to one',
    '*2.* You said: and again',
  ])
  expect(textsOf(await two.reads(PABLO, 1))).toEqual(['*1.* You said: to two'])
})

test('of a post for two numbers, only what its signature holds for is taken', async () => {
  const [ours, theirs] = [await whatsAppStory(app, meta), await whatsAppStory(app, meta)]
  const body = postOf([
    ours.told({ messages: [ours.message(PABLO, 'ours')] }),
    theirs.told({ messages: [theirs.message(PABLO, 'forged')] }),
  ])
  expect((await ours.deliver(body)).status).toBe(200)
  expect((await messagesOf(app, theirs)).length).toBe(0)
  expect((await ours.deliver(body, 'nobody’s secret')).status).toBe(401)
})

test('two people who write at once have a conversation each, though both are members', async () => {
  const story = await whatsAppStory(app, meta)
  for (const sender of ['+4915100001', '+4915100002']) await linked(app, story, sender)
  await Promise.all([
    story.writes('4915100001', 'I am Ada'),
    story.writes('4915100002', 'I am Bob'),
  ])
  expect(textsOf(await story.reads('4915100001', 1))).toEqual(['*1.* You said: I am Ada'])
  expect(textsOf(await story.reads('4915100002', 1))).toEqual(['*1.* You said: I am Bob'])
})

test('a text file of a member becomes a document, by two requests; a picture is named', async () => {
  const story = await whatsAppStory(app, meta)
  await linked(app, story, `+${PABLO}`)
  meta.media.set('1003383421387256', {
    body: Buffer.from('An espresso costs 2.40.'),
    mimeType: 'text/plain',
  })
  const document = {
    id: '1003383421387256',
    filename: 'prices.txt',
    mime_type: 'text/plain',
    sha256: 'x',
    caption: 'our prices',
  }
  await story.writes(PABLO, '', { type: 'document', document, text: undefined })
  const [answer] = await story.reads(PABLO, 1)
  expect(answer!.text).toContain('our prices')
  expect(answer!.text).toContain('its text is the document')
  await story.writes(PABLO, '', {
    type: 'image',
    image: { id: '7', mime_type: 'image/jpeg' },
    text: undefined,
  })
  expect((await story.reads(PABLO, 2))[1]!.text).toContain('only text and Markdown are read')
  expect((await story.send('GET', 'documents')).body.documents).toMatchObject([
    { fileName: 'prices.txt' },
  ])
})

test('a message that a member passes on becomes a document, not the member’s word', async () => {
  const story = await whatsAppStory(app, meta)
  await linked(app, story, `+${PABLO}`)
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
  const story = await whatsAppStory(app, meta, { senderPolicy: 'anyone' })
  const yesterday = String(Math.floor(Date.now() / 1_000) - 90_000)
  await story.writes(PABLO, 'are you open?', { timestamp: yesterday })
  const held = async () => (await story.send('GET', 'channels/replies?status=held')).body.replies
  const [reply] = await eventually(held, (all) => all.length > 0)
  expect((await story.send('POST', `channels/replies/${reply.id}/send`, {})).status).toBe(200)
  const failed = async () => (await story.send('GET', `channels/replies/${reply.id}`)).body.reply
  expect(await eventually(failed, (one) => one.status === 'failed')).toMatchObject({
    ...{
      status: 'failed',
      parts: [
        {
          state: 'failed',
          error: 'the person wrote more than 24 hours ago: WhatsApp takes no free text any more',
        },
      ],
    },
  })
  expect(await story.reads(PABLO, 0)).toEqual([])
})

test('an answer of many paragraphs goes in parts, in order; the first quotes', async () => {
  const story = await whatsAppStory(app, meta)
  await linked(app, story, `+${PABLO}`)
  const { id } = await story.writes(PABLO, `long ${'word '.repeat(1_800)}`.trim())
  const parts = await story.reads(PABLO, 3)
  expect(parts.map(({ quotes }) => quotes)).toEqual([id, undefined, undefined])
  expect(parts.every(({ text }) => text.length <= 4_096)).toBe(true)
  expect(textsOf(parts).join(' ').match(/word/g)).toHaveLength(1_800)
})
