/**
 * Conversations by mail through Resend, end to end: the posts of a server that plays it, and the
 * mails that our address sends there.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { MOST_OF_MEMBER, USED_UP } from '#domain/agent/channel/trust'
import {
  begunBefore,
  channelJobs,
  linked,
  messagesOf,
  settledMessages,
} from '#test/support/channels/dev-posts'
import { echo } from '#test/support/channels/echo'
import { quoting, resendStory } from '#test/support/channels/mail-story'
import { repliesWith } from '#test/support/channels/replies'
import { openResend } from '#test/support/channels/resend'
import { codeIn, linkCode, sendersOf } from '#test/support/channels/senders'
import { eventually } from '#test/support/eventually'
import { useApp } from '#test/support/use'

const resend = openResend()
afterAll(() => resend[Symbol.asyncDispose]())
beforeAll(() => {
  resend.domains.push({
    id: 'd1',
    name: 'example.com',
    status: 'verified',
    capabilities: { sending: 'enabled', receiving: 'enabled' },
  })
})

const app = useApp(() => ({
  overrides: { thinker: echo() },
  env: {
    ...{
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: 'http://127.0.0.1:9',
      CHANNEL_URLS: JSON.stringify({ resend: resend.url }),
    },
    EGRESS_ALLOW: [resend.url, resend.cdnUrl].map((url) => new URL(url).host).join(','),
  },
}))

const ADA = 'ada@example.org'
/** In which Ada's address is that of a member. */
const membersStory = async () => {
  const story = await resendStory(app, resend)
  await linked(app, story, ADA)
  return story
}

test('a member talks with the agent in a thread of mails: it remembers, and answers there', async () => {
  const story = await membersStory()
  const first = await story.writes({ subject: 'Plans', text: 'what is due?\n\n-- \nAda Lovelace' })
  expect(first).toMatchObject({ status: 200, body: '{"received":true}' })
  const [answer] = await story.reads(1)
  expect(answer).toMatchObject({
    to: ADA,
    subject: 'Re: Plans',
    text: '1. You said: Subject: Plans\n\nwhat is due?',
  })
  expect(answer!.html).toContain('<strong>1.</strong>')
  expect(answer!.headers).toMatchObject({
    'In-Reply-To': first.mail.message_id,
    References: first.mail.message_id,
    'Auto-Submitted': 'auto-replied',
  })
  const references = `${first.mail.message_id} <answer@example.com>`
  const text = `use get_current_time${quoting(answer!.text)}`
  const second = await story.writes({
    subject: 'Re: Plans',
    text,
    headers: { references, 'in-reply-to': '<answer@example.com>' },
  })
  const [, next] = await story.reads(2)
  expect(next!.text).toStartWith('2. You said: Subject: Re: Plans')
  expect(next!.text).toContain('The tool gave 1 result.')
  expect(next!.text).not.toContain('what is due?')
  expect(next!.headers.References).toBe(`${references} ${second.mail.message_id}`)
  const jobs = await channelJobs(app, story)
  expect(new Set(jobs.map(({ conversation_id }) => conversation_id)).size).toBe(1)
  // The sender of a mail can be forged.
  expect(
    jobs.every(({ taint, on_behalf }) => taint.length > 0 && on_behalf.personId !== null),
  ).toBe(true)
})

test('a code that is sent by mail links its sender, although the mail is fetched; one that is quoted does not', async () => {
  const story = await resendStory(app, resend)
  const [code, senders] = [await linkCode(story), () => sendersOf(story)]
  await story.writes({ from: 'eve@example.org', text: `Look.${quoting(`Your code is ${code}`)}` })
  await story.reads(1)
  expect(await senders()).toEqual([])
  await story.writes({ subject: 'You have won: answer this mail', text: `${code}\n\n-- \nAda` })
  const second = (await story.reads(2)).at(-1)!
  // Under a subject of ours, and in no thread: whoever forged the sender may have chosen those.
  expect(second).toMatchObject({ to: ADA, subject: 'A message from your agent' })
  expect([second.headers['In-Reply-To'], await senders()]).toEqual([undefined, []])
  const answer = codeIn(second.text)
  expect(second.html).toContain(answer)
  // What answers for its owner quotes the mail.
  await story.writes({
    subject: `Re: ${second.subject}`,
    text: `I am away.${quoting(second.text)}`,
  })
  await story.reads(3)
  expect(await senders()).toEqual([])
  await story.writes({ subject: `Re: ${second.subject}`, text: `${answer}${quoting(second.text)}` })
  expect(await eventually(senders, (all) => all.length > 0)).toEqual([ADA])
  await story.reads(4)
  await story.writes({ text: 'hello' })
  expect((await story.reads(5)).at(-1)).toMatchObject({
    to: ADA,
    text: expect.stringContaining('hello'),
  })
})

test('another mail is another conversation', async () => {
  const story = await membersStory()
  await story.writes({ subject: 'One' })
  await story.reads(1)
  await story.writes({ subject: 'Two' })
  expect((await story.reads(2)).every(({ text }) => text.startsWith('1.'))).toBe(true)
})

test('who writes in a thread of somebody else begins one of his own', async () => {
  const story = await membersStory()
  await linked(app, story, 'bob@example.org')
  const first = await story.writes({ text: 'Ada’s secret' })
  await story.reads(1)
  await story.writes({
    from: 'Bob <bob@example.org>',
    text: 'what was said?',
    headers: { references: first.mail.message_id },
  })
  const [, answer] = await story.reads(2)
  expect(answer).toMatchObject({ to: 'bob@example.org', text: expect.stringMatching(/^1\. /) })
})

test('other tries, and the same mail by another event, begin nothing more', async () => {
  const story = await membersStory()
  const { mail } = await story.writes({ text: 'once' })
  for (const id of ['msg_1', 'msg_2']) expect((await story.deliver(mail, { id })).status).toBe(200)
  await story.writes({ text: 'once', message_id: mail.message_id })
  await story.reads(1)
  expect(await channelJobs(app, story)).toHaveLength(1)
})

test('machines are not answered, whether the post tells or the mail', async () => {
  const story = await resendStory(app, resend, {
    senderPolicy: 'anyone',
    config: { provider: 'resend', reply: 'auto' },
  })
  await story.writes({ from: 'MAILER-DAEMON@example.org' })
  await story.writes({ from: story.address })
  await story.writes({ headers: { 'Auto-Submitted': 'auto-replied' }, text: 'I am out of office' })
  await story.writes({ headers: { 'List-Id': '<news.example.org>' }, text: 'news' })
  const person = await story.writes({ text: 'a person' })
  const messages = await settledMessages(app, story, 3)
  expect(messages.map(({ state }) => state)).toEqual(['failed', 'failed', 'taken'])
  expect(await story.reads(1)).toMatchObject([
    { to: ADA, headers: { 'In-Reply-To': person.mail.message_id } },
  ])
  expect(await channelJobs(app, story)).toHaveLength(1)
})

test('what is signed otherwise is refused, and looks like an unknown address', async () => {
  const story = await resendStory(app, resend)
  const mail = resend.receive({ to: [story.address] })
  const answers = [
    await story.deliver(mail, { by: 'whsec_Y2hhbm5lbC1zZWNyZXQtb2YtdGVzdHMtMDAwMQ==' }),
    await story.deliver(mail, { at: new Date(Date.now() - 360_000) }),
    await story.deliver(resend.receive({ to: ['nobody@example.com'] })),
  ]
  const shown = answers.map(({ status, body }) => [status, JSON.parse(body).error.message])
  expect(shown).toEqual(Array(3).fill([401, 'no channel has this routing key and signature']))
  expect(await messagesOf(app, story)).toEqual([])
})

test('HTML alone is read, and a text file becomes a document', async () => {
  const story = await membersStory()
  const html = '<p>Our <b>prices</b> are below.</p><blockquote>Which prices?</blockquote>'
  const prices = {
    id: 'f1',
    filename: 'prices.md',
    content_type: 'text/markdown',
    bytes: Buffer.from('# Prices\n\nAn espresso costs 2.40.'),
  }
  await story.writes({ text: null, html, files: [prices] })
  const [answer] = await story.reads(1)
  expect(answer!.text).toContain('Our prices are below.')
  expect(answer!.text).not.toContain('Which prices?')
  expect(answer!.text).toContain('its text is the document')
  expect((await story.send('GET', 'documents')).body.documents).toMatchObject([
    { fileName: 'prices.md', trusted: false },
  ])
})

test('a member who has used up the day is told so once, and no text or file beyond it is kept', async () => {
  const story = await resendStory(app, resend)
  const identity = await linked(app, story, ADA)
  await begunBefore(app, story, { sender: ADA, identity, count: MOST_OF_MEMBER - 1 })
  const file = {
    id: 'f2',
    filename: 'notes.md',
    content_type: 'text/markdown',
    bytes: Buffer.from('# Notes'),
  }
  await story.writes({ text: 'the last' })
  await story.writes({ text: 'too many', files: [file] })
  const mails = await story.reads(2)
  expect(mails.map(({ text }) => text).toSorted()).toEqual([
    expect.stringContaining('the last'),
    USED_UP,
  ])
  const reads = () =>
    resend.requests.filter((each) => each.startsWith('GET /emails/receiving')).length
  const before = reads()
  await story.writes({ text: 'far too many' })
  expect(await settledMessages(app, story, MOST_OF_MEMBER)).toHaveLength(MOST_OF_MEMBER)
  expect([reads(), (await story.reads(2)).length, (await channelJobs(app, story)).length]).toEqual([
    before,
    2,
    1,
  ])
  expect((await story.send('GET', 'documents')).body.documents).toEqual([])
})

test('a Resend that cannot tell the text at first is asked again', async () => {
  const story = await membersStory()
  resend.fail({ status: 503 })
  await story.writes({ text: 'later' })
  expect((await story.reads(1))[0]!.text).toContain('later')
})

test('a mail that Resend perhaps sent goes again under the same name, and arrives once', async () => {
  const story = await membersStory()
  const before = resend.requests.filter((each) => each === 'POST /emails').length
  resend.fail({ status: 500, isTaken: true })
  await story.writes({ text: 'perhaps' })
  await repliesWith(story, 'sent')
  expect(resend.requests.filter((each) => each === 'POST /emails')).toHaveLength(before + 2)
  expect(await story.reads(1)).toHaveLength(1)
})

test('a key that is withdrawn makes the connection failing', async () => {
  const story = await resendStory(app, resend)
  const old = resend.apiKey
  resend.apiKey = 're_another'
  await story.send('POST', `channels/${story.id}/check`)
  const failing = await eventually(
    () => story.get(story.id),
    ({ status }) => status === 'failing',
  )
  resend.apiKey = old
  expect(failing.lastError).toContain('apiKey')
  expect(JSON.stringify(failing)).not.toContain(old)
  await story.send('POST', `channels/${story.id}/check`)
  const mended = await eventually(
    () => story.get(story.id),
    ({ status }) => status === 'active',
  )
  expect(mended.lastError).toBeNull()
})
