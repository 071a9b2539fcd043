/** Conversations by SMS, end to end: with a server that plays Twilio, and what our number sends. */
import { afterAll, expect, test } from 'bun:test'
import { smsForm } from '#domain/agent/channel/forms/sms'
import { MOST_OF_MEMBER, MOST_TOLD, USED_UP } from '#domain/agent/channel/trust'
import {
  begunBefore,
  channelJobs,
  dayLater,
  linked,
  messagesOf,
} from '#test/support/channels/dev-posts'
import { echo } from '#test/support/channels/echo'
import { repliesWith } from '#test/support/channels/replies'
import { codeIn, linkCode, sendersOf } from '#test/support/channels/senders'
import { smsStory } from '#test/support/channels/sms-story'
import { openTwilio } from '#test/support/channels/twilio'
import { newSid } from '#test/support/channels/twilio-posts'
import { eventually } from '#test/support/eventually'
import { signedIn } from '#test/support/session'
import { secretsIn, secretsInTables } from '#test/support/texts/secrets'
import { useApp } from '#test/support/use'

const twilio = openTwilio()
afterAll(() => twilio[Symbol.asyncDispose]())

const PUBLIC = 'https://tendril.example.com'
const app = useApp(() => ({
  overrides: { thinker: echo() },
  env: {
    ...{ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9', PUBLIC_URL: PUBLIC },
    CHANNEL_URLS: JSON.stringify({ twilio: twilio.url }),
    EGRESS_ALLOW: [twilio.url, twilio.cdnUrl].map((url) => new URL(url).host).join(','),
  },
}))

const story = (options: Record<string, unknown> = {}) =>
  smsStory(app, twilio, { publicUrl: PUBLIC, ...options })
const ADA = '+4915112345678'
const TAKEN = {
  status: 200,
  type: 'text/xml',
  body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
}
/** In which Ada's number is that of a member. */
const membersStory = async () => {
  const sms = await story()
  await linked(app, sms, ADA)
  return sms
}

test('a member talks with the agent by SMS: it remembers, uses tools, and answers in plain text', async () => {
  const sms = await membersStory()
  expect(await sms.writes(ADA, 'what is due?')).toMatchObject(TAKEN)
  expect(await sms.reads(ADA, 1)).toEqual(['1. You said: what is due?'])
  await sms.writes(ADA, 'use get_current_time')
  expect((await sms.reads(ADA, 2))[1]).toBe(
    '2. You said: use get_current_time The tool gave 1 result.',
  )
  const jobs = await channelJobs(app, sms)
  expect(new Set(jobs.map(({ conversation_id }) => conversation_id)).size).toBe(1)
  // The sender of an SMS can be forged.
  expect(
    jobs.every(({ on_behalf, taint }) => on_behalf.personId !== null && taint.length > 0),
  ).toBe(true)
})

test('another try of Twilio’s begins nothing more', async () => {
  const sms = await membersStory()
  const { fields } = await sms.writes(ADA, 'once')
  expect(
    await sms.deliver(fields, { headers: { 'i-twilio-idempotency-token': 'another' } }),
  ).toEqual(TAKEN)
  expect((await sms.deliver(fields, { asJson: true })).status).toBe(200)
  await sms.writes(ADA, 'after it')
  expect(await sms.reads(ADA, 2)).toEqual(['1. You said: once', '2. You said: after it'])
  expect(await channelJobs(app, sms)).toHaveLength(2)
})

const EVE = '+4915199999999'

test('a code that is sent by SMS links its sender once a second one, which is sent there, has come back', async () => {
  const sms = await story()
  const code = await linkCode(sms)
  await sms.writes(ADA, `My code: ${code}`)
  const [line] = await sms.reads(ADA, 1)
  expect(line).toMatch(
    /^Somebody asked to be known here as [^ ]+@example\.com, from this address\./,
  )
  expect([await sendersOf(sms), codeIn(line) === code]).toEqual([[], false])
  await sms.writes(ADA, codeIn(line).toLowerCase())
  expect((await sms.reads(ADA, 2))[1]).toStartWith('You are linked now')
  expect(await sendersOf(sms)).toEqual([ADA])
  await sms.writes(ADA, 'hello')
  expect((await sms.reads(ADA, 3))[2]).toBe('1. You said: hello')
  const details =
    await app.owner`select detail from audit where tenant_id = ${sms.tenantId} and detail ? 'code'
      order by id`
  expect(details.map(({ detail }) => `${detail.code} ${detail.sender}`)).toEqual([
    `second ${ADA}`,
    `linked ${ADA}`,
  ])
})

test('the second code works from its own sender alone, once, and until the next code', async () => {
  const sms = await story({ senderPolicy: 'members' })
  const first = await linkCode(sms)
  await sms.writes(ADA, first)
  const [line] = await sms.reads(ADA, 1)
  // Whoever sees it elsewhere, and the first one again.
  for (const text of [codeIn(line), first]) await sms.writes(EVE, text)
  await sms.writes(ADA, first)
  expect(await sendersOf(sms)).toEqual([])
  const next = await linkCode(sms)
  await sms.writes(ADA, codeIn(line))
  expect(await sendersOf(sms)).toEqual([])
  await sms.writes(EVE, next)
  const evesLine = (await sms.reads(EVE, 2)).find((text) => text.startsWith('Somebody asked'))
  await app.owner`update channel_link_code set expires_at = now() where tenant_id = ${sms.tenantId}`
  await sms.writes(EVE, codeIn(evesLine))
  expect([await sendersOf(sms), await channelJobs(app, sms)]).toEqual([[], []])
})

test('nobody in the workspace sees a second code: a member who forges a sender cannot answer for it', async () => {
  const sms = await story()
  await sms.writes(ADA, await linkCode(sms))
  const second = codeIn((await sms.reads(ADA, 1))[0])
  const replies = await repliesWith(sms, 'sent')
  expect(replies).toMatchObject([{ recipient: ADA, text: expect.stringContaining('XXXX-XXXX') }])
  const exported = await app.send('GET', '/api/v1/app/workspace/export', { key: sms.key })
  const told = [
    JSON.stringify(replies),
    exported.text,
    JSON.stringify((await sms.send('GET', 'app/audit')).body),
  ]
  for (const text of told) expect(secretsIn(text, { second })).toEqual([])
  expect(await secretsInTables(app.owner, { second, letters: second.replace('-', '') })).toEqual([])
  expect(
    await app.owner`select 1 from channel_reply where tenant_id = ${sms.tenantId}
      and secret is not null`,
  ).toHaveLength(0)
  await sms.writes(ADA, 'XXXX-XXXX')
  expect(await sendersOf(sms)).toEqual([])
})

test('messages in the name of a member begin 100 jobs a day; then the member is told so once, and others go on', async () => {
  const sms = await story()
  const [identity, BOB] = [await linked(app, sms, ADA), '+4915112345679']
  await linked(app, sms, BOB)
  // Strangers who are told that members alone are served keep no member from being told.
  await app.owner`insert into inbound_event (tenant_id, source_id, event_id, sender, at)
    select ${sms.tenantId}, ${sms.id}, 'told ' || n, '', now()
      from generate_series(1, ${MOST_TOLD}) n`
  await begunBefore(app, sms, { sender: ADA, identity, count: MOST_OF_MEMBER - 1 })
  for (const text of ['the last', 'too many', 'far too many'])
    expect((await sms.writes(ADA, text)).status).toBe(200)
  await sms.writes(BOB, 'hello')
  expect(await sms.reads(BOB, 1)).toEqual(['1. You said: hello'])
  expect((await sms.reads(ADA, 2)).toSorted()).toEqual(['1. You said: the last', USED_UP])
  expect(await channelJobs(app, sms)).toHaveLength(2)
  await dayLater(app, sms)
  await sms.writes(ADA, 'a day later')
  expect((await sms.reads(ADA, 3)).toSorted()).toEqual([
    '1. You said: the last',
    '2. You said: a day later',
    USED_UP,
  ])
})

test('a message in the name of a member stops nothing by itself: it asks, and the person decides on the page', async () => {
  const sms = await story()
  await linked(app, sms, ADA, (await signedIn(app, sms.tenantId, 'owner')).personId)
  const pausedAt = async () => (await sms.send('GET', 'growth/automation')).body.automation.since
  await sms.writes(ADA, 'use growth_pause_automation')
  expect((await sms.reads(ADA, 1))[0]).toContain('This needs a decision')
  const { approvals } = (await sms.send('GET', 'agent/approvals?status=pending')).body
  expect(approvals).toMatchObject([
    {
      tool_name: 'growth_pause_automation',
      why: expect.arrayContaining(['untrusted: channel sms']),
    },
  ])
  expect(await pausedAt()).toBeNull()
  expect((await sms.send('POST', `agent/approvals/${approvals[0].id}/approve`, {})).status).toBe(
    200,
  )
  await eventually(pausedAt, (at) => at !== null)
  expect((await sms.reads(ADA, 2))[1]).toContain('The tool gave 1 result.')
})

test('STOP, reports on our messages and machines begin nothing', async () => {
  const sms = await membersStory()
  for (const fields of [
    sms.sms(ADA, 'STOP'),
    sms.sms(ADA, 'Help'),
    sms.sms('72345', 'Your code is 123456'),
    sms.sms(sms.number, 'an echo'),
    {
      MessageSid: newSid('SM'),
      MessageStatus: 'delivered',
      To: ADA,
      From: sms.number,
      AccountSid: twilio.accountSid,
    },
  ])
    expect((await sms.deliver(fields)).status).toBe(200)
  expect(await messagesOf(app, sms)).toEqual([])
})

test('what is signed otherwise is refused, and looks like an unknown number', async () => {
  const sms = await story()
  const fields = sms.sms(ADA, 'pay')
  const answers = [
    await sms.deliver(fields, { by: 'f'.repeat(32) }),
    await sms.deliver(fields, { signedUrl: `${app.url}/webhooks/channels/sms` }),
    await sms.deliver({ ...fields, To: '+14155559999' }),
    await sms.deliver(fields, { headers: { 'x-twilio-signature': '' } }),
  ]
  const shown = answers.map(({ status, body }) => [status, JSON.parse(body).error.message])
  expect(shown).toEqual(Array(4).fill([401, 'no channel has this routing key and signature']))
  expect(await messagesOf(app, sms)).toEqual([])
})

test('text of a member that comes as a file becomes a document', async () => {
  const sms = await membersStory()
  const [message, media] = [newSid('MM'), newSid('ME')]
  twilio.media.set(`${message}/${media}`, {
    type: 'text/plain',
    bytes: Buffer.from('Opening hours: nine to five.'),
  })
  const MediaUrl0 = `https://api.twilio.com/2010-04-01/Accounts/${twilio.accountSid}/Messages/${message}/Media/${media}`
  await sms.writes(ADA, 'our hours', {
    MessageSid: message,
    NumMedia: '1',
    MediaUrl0,
    MediaContentType0: 'text/plain',
  })
  expect((await sms.reads(ADA, 1))[0]).toContain('its text is the document')
  const { body } = await sms.send('GET', 'documents')
  expect(body.documents).toMatchObject([{ trusted: false }])
})

test('a stranger’s answer is held until a person lets it go', async () => {
  const sms = await story({ senderPolicy: 'anyone' })
  await sms.writes('+33612345678', 'when do you open?')
  const [held] = await repliesWith(sms, 'held')
  expect(held).toMatchObject({ channel: 'sms', recipient: '+33612345678' })
  expect(
    (await sms.send('POST', `channels/replies/${held.id}/send`, { text: 'At **nine**.' })).status,
  ).toBe(200)
  expect(await sms.reads('+33612345678', 1)).toEqual(['At nine.'])
})

test('a pause that Twilio asks for is kept, and the answer goes once', async () => {
  const sms = await membersStory()
  twilio.fail({ status: 429, code: 20429, headers: { 'retry-after': '1' } })
  await sms.writes(ADA, 'patience')
  expect(await sms.reads(ADA, 1)).toEqual(['1. You said: patience'])
})

test('an answer that Twilio perhaps took is unknown, and never goes again', async () => {
  const sms = await membersStory()
  twilio.fail({ status: 500, isTaken: true })
  await sms.writes(ADA, 'perhaps')
  expect(await repliesWith(sms, 'unknown')).toMatchObject([
    { text: expect.stringContaining('perhaps') },
  ])
  await sms.writes(ADA, 'and this?')
  const doubt =
    'I do not know whether all of my last answer reached you. If something is missing, ask again.'
  expect(await sms.reads(ADA, 2)).toEqual([
    '1. You said: perhaps',
    `${doubt}\n\n2. You said: and this?`,
  ])
  await sms.writes(ADA, 'and now?')
  expect((await sms.reads(ADA, 3)).at(-1)).toBe('3. You said: and now?')
})

test('who opted out gets no answer, and its failure says why', async () => {
  const sms = await story()
  const OUT = '+4915100000099'
  await linked(app, sms, OUT)
  twilio.optedOut.add(OUT)
  await sms.writes(OUT, 'hello?')
  const [reply] = await repliesWith(sms, 'failed')
  expect(JSON.stringify(reply)).toContain('opted out')
  expect(await sms.get(sms.id)).toMatchObject({ status: 'active' })
})

test('an answer that is long goes out in several messages, in order', async () => {
  const sms = await membersStory()
  const words = Array.from({ length: 500 }, (_, at) => `word${at}`)
  await sms.writes(ADA, words.join(' '))
  const expected = smsForm(`**1.** You said: ${words.join(' ')}`)
  expect(expected.length).toBeGreaterThan(2)
  expect(await sms.reads(ADA, expected.length)).toEqual(expected)
})
