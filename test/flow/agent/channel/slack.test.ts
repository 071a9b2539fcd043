/**
 * Conversations in Slack, end to end: the posts of a server that plays Slack, and what our app
 * posts there.
 */
import { afterAll, expect, test } from 'bun:test'
import { LINKED_LINES } from '#domain/agent/channel/identity'
import { MEMBERS_ONLY } from '#domain/agent/channel/trust'
import { channelJobs, linked, messagesOf } from '#test/support/channels/dev-posts'
import { echo } from '#test/support/channels/echo'
import { openSlack } from '#test/support/channels/slack'
import { slackEvent } from '#test/support/channels/slack-posts'
import { slackStory } from '#test/support/channels/slack-story'
import { eventually } from '#test/support/eventually'
import { useApp } from '#test/support/use'

const slack = await openSlack([])
afterAll(() => slack[Symbol.asyncDispose]())

const app = useApp(() => ({
  overrides: { thinker: echo() },
  env: {
    ...{ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' },
    ...{ CHANNEL_URLS: JSON.stringify(slack.urls), EGRESS_ALLOW: new URL(slack.urls.slack).host },
  },
}))

test('Slack proves the connection, and its challenge is answered', async () => {
  const { get, id, team, deliver } = await slackStory(app, slack)
  expect(await get(id)).toMatchObject({
    ...{ status: 'active', routingKey: `${team.teamId}:${team.appId}`, lastError: null },
    config: { botUserId: team.botUserId, teamName: 'Subarachnoid Workspace' },
  })
  const challenge = { token: 'x', challenge: 'abc', type: 'url_verification' }
  expect(await deliver(challenge, { secret: 'not ours' })).toEqual({
    status: 200,
    body: '{"challenge":"abc"}',
  })
})

test('a member talks with the agent in a thread: it remembers, uses tools, and answers there in Slack’s form', async () => {
  const story = await slackStory(app, slack)
  await linked(app, story, 'U061F7AUR')
  const { thread } = await story.mentions('U061F7AUR', 'what is due?')
  expect(await story.reads({ thread }, 1)).toEqual(['*1.* You said: what is due?'])
  await story.mentions('U061F7AUR', 'use get_current_time', thread)
  expect(await story.reads({ thread }, 2)).toEqual([
    '*1.* You said: what is due?',
    '*2.* You said: use get_current_time The tool gave 1 result.',
  ])
  const jobs = await channelJobs(app, story)
  expect(new Set(jobs.map(({ conversation_id }) => conversation_id)).size).toBe(1)
  expect(
    jobs.every(({ taint, on_behalf }) => taint.length === 0 && on_behalf.personId !== null),
  ).toBe(true)
  const other = await story.mentions('U061F7AUR', 'something else')
  expect(await story.reads(other, 1)).toEqual(['*1.* You said: something else'])
})

test('a stranger is told once that members alone are served, and becomes one by a code', async () => {
  const story = await slackStory(app, slack)
  const { thread } = await story.mentions('U0ADA', 'hello?')
  await story.mentions('U0ADA', 'anybody?', thread)
  const { status, body } = await story.send('POST', `channels/${story.id}/link-code`)
  expect(status).toBe(201)
  await story.writes('U0ADA', `my code is ${body.code}`)
  expect(await story.reads({ channel: 'D0PNCRP9N' }, 1)).toEqual([LINKED_LINES.linked])
  await story.mentions('U0ADA', 'and now?', thread)
  expect(await story.reads({ thread }, 2)).toEqual([MEMBERS_ONLY, '*1.* You said: and now?'])
  expect(
    (await story.send('GET', `channels/${story.id}/identities`)).body.identities,
  ).toMatchObject([{ sender: 'U0ADA' }])
})

test('two members share the conversation of a thread', async () => {
  const story = await slackStory(app, slack)
  await linked(app, story, 'U0ADA')
  await linked(app, story, 'U0BOB')
  const { thread } = await story.mentions('U0ADA', 'I am Ada')
  await story.reads({ thread }, 1)
  await story.mentions('U0BOB', 'I am Bob', thread)
  expect((await story.reads({ thread }, 2))[1]).toBe('*2.* You said: I am Bob')
})

test('a direct message is answered directly, without a thread', async () => {
  const story = await slackStory(app, slack)
  await linked(app, story, 'U061F7AUR')
  await story.writes('U061F7AUR', 'is <https://example.com|this> right &amp; good?')
  expect(await story.reads({ channel: 'D0PNCRP9N' }, 1)).toEqual([
    '*1.* You said: is this (<https://example.com>) right &amp; good?',
  ])
})

test('Slack’s retries of a post, and its twin under another event id, begin nothing more', async () => {
  const story = await slackStory(app, slack)
  await linked(app, story, 'U061F7AUR')
  const { thread, body } = await story.mentions('U061F7AUR', 'once')
  for (const time of [1, 2, 3]) expect((await story.retries(body, time)).status).toBe(200)
  expect((await story.deliver({ ...body, event_id: 'Ev0OTHER' })).status).toBe(200)
  await story.reads({ thread }, 1)
  expect(await channelJobs(app, story)).toHaveLength(1)
  await story.mentions('U061F7AUR', 'after it', thread)
  expect(await story.reads({ thread }, 2)).toEqual([
    '*1.* You said: once',
    '*2.* You said: after it',
  ])
})

test('what the app itself posts, and other bots, begins nothing', async () => {
  const story = await slackStory(app, slack)
  const { team } = story
  for (const event of [
    {
      type: 'message',
      channel_type: 'im',
      user: team.botUserId,
      bot_id: team.botId,
      text: 'me',
      channel: 'D0PNCRP9N',
      ts: '1700009001.000100',
    },
    {
      type: 'app_mention',
      user: 'U0OTHER',
      bot_id: 'B0OTHER',
      text: `<@${team.botUserId}> hi`,
      channel: 'C0LAN2Q65',
      ts: '1700009002.000100',
    },
    {
      type: 'message',
      subtype: 'message_changed',
      channel_type: 'im',
      channel: 'D0PNCRP9N',
      ts: '1700009003.000100',
      message: { text: 'x' },
    },
  ])
    expect((await story.deliver(slackEvent(event, {}, team))).status).toBe(200)
  expect(await messagesOf(app, story)).toEqual([])
})

test('what another app signs, or is signed late, is refused; both look like an unknown team', async () => {
  const [ours, theirs] = [await slackStory(app, slack), await slackStory(app, slack)]
  const forged = slackEvent(
    { type: 'app_mention', user: 'U1', text: 'pay', channel: 'C0LAN2Q65', ts: '1700009101.000100' },
    {},
    ours.team,
  )
  const answers = [
    await ours.deliver(forged, { secret: theirs.team.signingSecret }),
    await ours.deliver(forged, {
      headers: { 'x-slack-request-timestamp': String(Math.floor(Date.now() / 1_000) - 330) },
    }),
    await ours.deliver(
      slackEvent({ type: 'app_mention' }, {}, { ...ours.team, teamId: 'T0NOBODY' }),
    ),
  ]
  const shown = answers.map(({ status, body }) => [status, JSON.parse(body).error.message])
  expect(shown).toEqual(Array(3).fill([401, 'no channel has this routing key and signature']))
  expect(await messagesOf(app, ours)).toEqual([])
})

test('a text file of a member becomes a document, and the answer knows it', async () => {
  const story = await slackStory(app, slack)
  await linked(app, story, 'U061F7AUR')
  slack.files.set('T1-F0PRICES/prices.md', {
    body: Buffer.from('# Prices\n\nAn espresso costs 2.40.'),
    contentType: 'text/plain',
  })
  const file = {
    id: 'F0PRICES',
    name: 'prices.md',
    mimetype: 'text/markdown',
    size: 34,
    mode: 'hosted',
  }
  const photo = {
    id: 'F0PHOTO',
    name: 'shop.jpg',
    mimetype: 'image/jpeg',
    size: 999,
    mode: 'hosted',
  }
  const url_private_download = `${slack.urls.slack_files}/files-pri/T1-F0PRICES/prices.md`
  await story.writes('U061F7AUR', 'our prices', {
    subtype: 'file_share',
    files: [{ ...file, url_private_download }, photo],
  })
  const [answer = ''] = await story.reads({ channel: 'D0PNCRP9N' }, 1)
  expect(answer).toContain('its text is the document')
  expect(answer).toContain('only text and Markdown are read')
  const { body } = await story.send('GET', 'documents')
  expect(body.documents).toMatchObject([{ fileName: 'prices.md', trusted: false }])
})

test('a stranger’s answer is held until a person lets it go', async () => {
  const story = await slackStory(app, slack, { senderPolicy: 'anyone' })
  const { thread } = await story.mentions('U0STRANGER', 'when do you open?')
  const replies = async () => (await story.send('GET', 'channels/replies?status=held')).body.replies
  const [held] = await eventually(replies, (all) => all.length > 0)
  expect(held).toMatchObject({
    channel: 'slack',
    recipient: 'U0STRANGER',
    text: '**1.** You said: (of a stranger) when do you open?',
  })
  expect(
    (await story.send('POST', `channels/replies/${held.id}/send`, { text: 'At **nine**.' })).status,
  ).toBe(200)
  expect(await story.reads({ thread }, 1)).toEqual(['At *nine*.'])
})

test('a pause that Slack asks for is kept, and the answer goes once', async () => {
  const story = await slackStory(app, slack)
  await linked(app, story, 'U061F7AUR')
  const before = slack.requests.length
  slack.next.push({ status: 429, headers: { 'retry-after': '1' } })
  const { thread } = await story.mentions('U061F7AUR', 'patience')
  expect(await story.reads({ thread }, 1)).toEqual(['*1.* You said: patience'])
  expect(slack.requests.slice(before).map(({ url }) => url)).toEqual([
    '/api/chat.postMessage',
    '/api/chat.postMessage',
  ])
})

test('an answer that Slack perhaps took is unknown, and never goes again', async () => {
  const story = await slackStory(app, slack)
  await linked(app, story, 'U061F7AUR')
  slack.next.push({ raw: '', taken: true })
  const { thread } = await story.mentions('U061F7AUR', 'perhaps')
  const unknown = async () =>
    (await story.send('GET', 'channels/replies?status=unknown')).body.replies
  expect(await eventually(unknown, (all) => all.length > 0)).toMatchObject([
    { text: '**1.** You said: perhaps' },
  ])
  await story.mentions('U061F7AUR', 'and this?', thread)
  const doubt =
    'I do not know whether all of my last answer reached you. If something is missing, ask again.'
  expect(await story.reads({ thread }, 2)).toEqual([
    '*1.* You said: perhaps',
    `${doubt}\n\n*2.* You said: and this?`,
  ])
})

test('a token that is withdrawn makes the connection failing; another one sends what waits', async () => {
  const story = await slackStory(app, slack)
  await linked(app, story, 'U061F7AUR')
  const [old, fresh] = [story.team.token, ['xoxb', crypto.randomUUID()].join('-')]
  story.team.token = fresh
  const { thread } = await story.mentions('U061F7AUR', 'still there?')
  const failing = await eventually(
    () => story.get(story.id),
    ({ status }) => status === 'failing',
  )
  expect(failing).toMatchObject({
    status: 'failing',
    lastError: 'Slack does not accept the bot token (invalid_auth)',
  })
  expect(JSON.stringify(failing)).not.toContain(old)
  expect(
    (await story.send('PATCH', `channels/${story.id}`, { credentials: { botToken: fresh } }))
      .status,
  ).toBe(200)
  expect(await story.reads({ thread }, 1)).toEqual(['*1.* You said: still there?'])
  expect(await story.get(story.id)).toMatchObject({ status: 'active', lastError: null })
})
