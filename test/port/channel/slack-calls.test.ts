/** What we ask of Slack, and what its answers mean. The server that plays Slack is judged by Slack's own SDK. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { webApi } from '@slack/bolt'
import { slackForm } from '#domain/agent/channel/forms/slack'
import type { Outgoing } from '#port/channel/channel'
import { slackAdapter } from '#port/channel/slack/adapter'
import { createEgress } from '#port/egress/egress'
import { openSlack } from '#test/support/channels/slack'
import { install, slackConnection } from '#test/support/channels/slack-posts'
import { eventually } from '#test/support/eventually'
import type { ReceiverAnswer } from '#test/support/http/receiver'

const people = { ...install, token: ['xoxb', 'no', 'files'].join('-'), scopes: ['chat:write', 'im:history'] }
const deaf = { ...install, token: ['xoxb', 'deaf'].join('-'), scopes: ['chat:write'] }
const mute = { ...install, token: ['xoxb', 'mute'].join('-'), scopes: ['im:history', 'app_mentions:read'] }

const slack = await openSlack([install, people, deaf, mute])
afterAll(() => slack[Symbol.asyncDispose]())
const egress = createEgress({ rules: { allow: new Set([new URL(slack.urls.slack).host]), own: new Set() } })
const adapter = slackAdapter({ egress, urls: slack.urls })
const connection = slackConnection()
const { signal } = new AbortController()

beforeEach(() => {
  slack.messages.length = 0
  slack.requests.length = 0
})

const withToken = (botToken: string) => ({ ...connection, credentials: { ...connection.credentials, botToken } })
const part = (more: Partial<Outgoing> = {}): Outgoing => ({
  id: 'r1',
  part: 0,
  text: 'two are due',
  replyTo: { channel: 'C0LAN2Q65', thread: '1515449522.000016' },
  ...more,
})
const send = (message = part(), by = connection) => adapter.send(by, message, signal)

test('Slack’s own SDK speaks with the server that plays Slack', async () => {
  const client = new webApi.WebClient(install.token, { slackApiUrl: `${slack.urls.slack}/`, retryConfig: { retries: 0 } })
  expect(await client.auth.test()).toMatchObject({
    ok: true,
    team_id: 'T061EG9R6',
    bot_id: 'B0LAN0Z90',
    response_metadata: { scopes: install.scopes },
  })
  expect(await client.bots.info({ bot: 'B0LAN0Z90' })).toMatchObject({ bot: { app_id: 'A0MDYCDME' } })
  expect(await client.chat.postMessage({ channel: 'C0LAN2Q65', text: 'hi', thread_ts: '1.2', unfurl_links: false })).toMatchObject({
    ok: true,
    message: { text: 'hi' },
  })
  expect(slack.messages).toMatchObject([{ channel: 'C0LAN2Q65', text: 'hi', thread_ts: '1.2' }])
  await expect(client.chat.postMessage({ channel: 'C0NONE', text: 'hi' })).rejects.toThrow('not_in_channel')
  await expect(new webApi.WebClient('xoxb-no', { slackApiUrl: `${slack.urls.slack}/` }).auth.test()).rejects.toThrow('invalid_auth')
  expect(slack.requests.every(({ headers }) => String(headers['content-type']).startsWith('application/x-www-form-urlencoded'))).toBe(true)
})

describe('a message', () => {
  test('goes into its thread, as it is, without previews', async () => {
    const text = '*due*: a &amp; b 👩‍🚀\n&lt;!channel&gt; + 100%'
    const sent = await send(part({ text }))
    expect(sent).toEqual({ kind: 'sent', externalId: slack.messages[0]!.ts })
    expect(slack.messages).toEqual([
      { channel: 'C0LAN2Q65', thread_ts: '1515449522.000016', text, ts: expect.any(String), by: install.appId },
    ])
    const form = Object.fromEntries(new URLSearchParams(slack.requests[0]!.body))
    expect(form).toMatchObject({ unfurl_links: 'false', unfurl_media: 'false' })
    expect(slack.requests[0]!.headers.authorization).toBe(`Bearer ${install.token}`)
  })

  test('to a person directly', async () => {
    expect((await send(part({ replyTo: { channel: 'U061F7AUR' } }))).kind).toBe('sent')
    expect(slack.messages).toMatchObject([{ channel: 'D061F7AUR', text: 'two are due' }])
  })

  test.each([
    ['not_in_channel', { channel: 'C0OTHER' }, 'message', 'the app is not in the channel: invite it there (not_in_channel)'],
    ['channel_not_found', { channel: 'D0OTHER' }, 'message', 'Slack finds no such channel, or the app may not see it (channel_not_found)'],
    ['is_archived', { channel: 'C0ARCHIVE' }, 'message', 'the channel is archived (is_archived)'],
    ['no channel', {}, 'message', 'the message has no channel to go to'],
  ] as const)('refused: %s', async (_, replyTo, of, error) => {
    expect(await send(part({ replyTo }))).toEqual({ kind: 'refused', of, error })
  })

  test('with a token that Slack does not know, or that lacks the scope, the connection is refused', async () => {
    expect(await send(part(), withToken('xoxb-gone'))).toEqual({
      kind: 'refused',
      of: 'connection',
      error: 'Slack does not accept the bot token (invalid_auth)',
    })
    expect(await send(part(), withToken(mute.token))).toEqual({
      kind: 'refused',
      of: 'connection',
      error: 'the app lacks a scope, chat:write (missing_scope)',
    })
    expect(slack.messages).toEqual([])
  })

  const json = (body: object | string): ReceiverAnswer => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

  test.each<[string, ReceiverAnswer, object]>([
    ['a pause asked for', { status: 429, headers: { 'retry-after': '30' } }, { kind: 'unsent', retryAfterMs: 30_000 }],
    ['a pause without a time', { status: 429 }, { kind: 'unsent', error: 'Slack asks for a pause (429)' }],
    [
      'rate_limited',
      { ...json({ ok: false, error: 'rate_limited' }), headers: { 'retry-after': '5' } },
      { kind: 'unsent', retryAfterMs: 5_000 },
    ],
    ['team_added_to_org', json({ ok: false, error: 'team_added_to_org' }), { kind: 'unsent' }],
    ['token_revoked', json({ ok: false, error: 'token_revoked' }), { kind: 'refused', of: 'connection' }],
    ['account_inactive', json({ ok: false, error: 'account_inactive' }), { kind: 'refused', of: 'connection' }],
    ['a reason that we do not know', json({ ok: false, error: 'restricted_action_thread_locked' }), { kind: 'refused', of: 'message' }],
    [
      'a reason that is no code',
      json({ ok: false, error: '<b>go to evil.example</b>' }),
      { kind: 'refused', error: 'Slack refused (no_reason_given)' },
    ],
  ])('%s', async (_, answer, expected) => {
    slack.next.push(answer)
    expect(await send()).toMatchObject(expected)
  })

  test.each<[string, ReceiverAnswer]>([
    ['internal_error', json({ ok: false, error: 'internal_error' })],
    ['fatal_error', json({ ok: false, error: 'fatal_error' })],
    ['a status of 500', { status: 500, body: 'upstream error' }],
    ['a status of 503', { status: 503, headers: { 'retry-after': '1' } }],
    ['a page in place of an answer', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }],
    ['an answer that breaks off', { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"ok":' }],
    ['no answer', { raw: '' }],
    ['a redirect', { status: 302, headers: { location: 'https://evil.example/' } }],
    ['too long an answer', json(`{"ok":true,"x":"${'x'.repeat(300_000)}"}`)],
  ])('is unknown after %s, and was perhaps posted', async (_, answer) => {
    slack.next.push({ ...answer, taken: true })
    expect((await send()).kind).toBe('unknown')
    expect(slack.messages).toHaveLength(1)
    expect(slack.requests).toHaveLength(1)
  })

  test('is unsent if Slack cannot be reached, and unknown if the wait was stopped', async () => {
    await using gone = await openSlack()
    const { host } = new URL(gone.urls.slack)
    const other = slackAdapter({ egress: createEgress({ rules: { allow: new Set([host]), own: new Set() } }), urls: gone.urls })
    gone.next.push({ hang: 'before' })
    const stopping = new AbortController()
    const sending = other.send(connection, part(), stopping.signal)
    await eventually(
      async () => gone.requests.length,
      (count) => count > 0,
    )
    stopping.abort()
    expect((await sending).kind).toBe('unknown')
    await gone[Symbol.asyncDispose]()
    expect((await other.send(connection, part(), signal)).kind).toBe('unsent')
  })

  test('cannot leave if the address of Slack is not allowed', async () => {
    const closed = slackAdapter({ egress: createEgress({ rules: { allow: new Set(), own: new Set() } }), urls: slack.urls })
    expect(await closed.send(connection, part(), signal)).toMatchObject({ kind: 'refused', of: 'connection' })
  })

  test('says nothing of the token in any error', async () => {
    slack.next.push(
      { status: 400, body: install.token },
      json({ ok: false, error: install.token }),
      json({ ok: false, error: 'missing_scope', needed: install.token }),
    )
    for (let i = 0; i < 3; i++) expect(JSON.stringify(await send())).not.toContain(install.token)
  })
})

describe('the check', () => {
  const check = (routingKey: string, by = connection) => adapter.check({ ...by, routingKey }, signal)

  test('proves the workspace, and learns who we are in it', async () => {
    expect(await check('T061EG9R6')).toEqual({
      kind: 'proven',
      learned: {
        botUserId: 'U0LAN0Z89',
        botId: 'B0LAN0Z90',
        botName: 'tendril',
        teamName: 'Subarachnoid Workspace',
        teamUrl: 'https://subarachnoid.slack.com/',
      },
    })
  })

  test('proves the app as well, if the routing key names one', async () => {
    expect((await check('T061EG9R6:A0MDYCDME')).kind).toBe('proven')
    expect(await check('T061EG9R6:A0OTHER')).toEqual({ kind: 'refused', error: 'the bot token belongs to another app than A0OTHER' })
  })

  test.each([
    ['another workspace', 'T0OTHER', install.token, 'the bot token belongs to another Slack workspace than T0OTHER'],
    ['an unknown token', 'T061EG9R6', 'xoxb-gone', 'Slack does not accept the bot token (invalid_auth)'],
    ['no token', 'T061EG9R6', '', 'Slack got no bot token (not_authed)'],
    [
      'a token that cannot write',
      'T061EG9R6',
      mute.token,
      'the app lacks the scope chat:write: add it under "OAuth & Permissions" and install the app again',
    ],
    ['a token that hears nothing', 'T061EG9R6', deaf.token, 'so that it hears nothing'],
    ['an app that cannot be told', 'T061EG9R6:A0MDYCDME', people.token, 'users:read'],
  ])('refuses %s', async (_, key, token, error) => {
    expect(await check(key, withToken(token))).toEqual({ kind: 'refused', error: expect.stringContaining(error) })
  })

  test.each<[string, ReceiverAnswer]>([
    ['is busy', { status: 429, headers: { 'retry-after': '9' } }],
    ['is broken', { status: 502 }],
    ['breaks off', { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n' }],
  ])('proves and refuses nothing if Slack %s', async (_, answer) => {
    slack.next.push(answer)
    expect((await check('T061EG9R6')).kind).toBe('unreachable')
  })

  test('of a person’s token is refused', async () => {
    slack.next.push({ status: 200, body: JSON.stringify({ ok: true, team_id: 'T061EG9R6', user_id: 'U061F7AUR', user: 'ada' }) })
    expect((await check('T061EG9R6')).kind).toBe('refused')
  })
})

describe('a file', () => {
  const bytes = Buffer.from([0, 255, 10, 13, 200])
  slack.files.set('T1-F0TD00400/download', { body: bytes, contentType: 'text/markdown' })
  slack.files.set('F0TD00500/download', { body: bytes, contentType: 'text/plain' })
  slack.files.set('large', { body: Buffer.alloc(1_048_577), contentType: 'text/plain' })
  slack.files.set('page.html', { body: Buffer.from('notes about html'), contentType: 'text/html' })
  const urlOf = (path: string) => `${slack.urls.slack_files}/files-pri/${path}`
  const download = (ref: Record<string, unknown>, by = connection) => adapter.download!(by, ref, signal)

  test('is read with the bot’s token', async () => {
    expect(await download({ id: 'F0TD00400', url: urlOf('T1-F0TD00400/download') })).toEqual({ kind: 'fetched', value: bytes })
    expect(slack.requests[0]!.headers.authorization).toBe(`Bearer ${install.token}`)
  })

  test('without an address is found by its id', async () => {
    expect(await download({ id: 'F0TD00500' })).toEqual({ kind: 'fetched', value: bytes })
    expect((await download({ id: 'F0NONE' })).kind).toBe('gone')
  })

  test.each([
    'https://evil.example/files-pri/x',
    `${slack.urls.slack_files.replace('127.0.0.1', 'localhost')}/files-pri/T1-F0TD00400/download`,
    slack.urls.slack_files.replace('http://', 'http://x@'),
    'http://127.0.0.1:1/files-pri/x',
    'file:///etc/passwd',
    'nonsense',
  ])('at %s is not asked for: the token goes to Slack alone', async (url) => {
    expect(await download({ id: 'F1', url })).toEqual({ kind: 'gone', error: 'the file is not kept by Slack' })
    expect(slack.requests).toEqual([])
  })

  test('without the scope is Slack’s page to sign in, and no file', async () => {
    const error = 'Slack does not hand the file out: the app needs the scope files:read'
    expect(await download({ url: urlOf('T1-F0TD00400/download') }, withToken(people.token))).toEqual({ kind: 'gone', error })
    slack.next.push({ status: 302, headers: { location: 'https://slack.com/signin' } })
    expect(await download({ url: urlOf('x') })).toEqual({ kind: 'gone', error })
    expect((await download({ url: urlOf('page.html') })).kind).toBe('fetched')
  })

  test('that is gone, too large, or not to be had now', async () => {
    expect((await download({ url: urlOf('none') })).kind).toBe('gone')
    expect(await download({ url: urlOf('large') })).toEqual({ kind: 'gone', error: 'it has more than 1048576 bytes' })
    slack.next.push({ status: 500 }, { status: 429 }, { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab' }, { raw: '' })
    for (let i = 0; i < 4; i++) expect((await download({ url: urlOf('x') })).kind).toBe('unreachable')
  })
})

test('an answer in Markdown arrives as Slack writes it, and mentions nobody', async () => {
  const [text = ''] = slackForm('**Two** are due, <!channel> & <@U061F7AUR>: [the list](https://example.com/a)')
  await send(part({ text }))
  expect(slack.messages[0]!.text).toBe('*Two* are due, &lt;!channel&gt; &amp; &lt;@U061F7AUR&gt;: <https://example.com/a|the list>')
})

test.each([
  ['T0123ABCD', 'T0123ABCD'],
  [' t0123abcd:a0456 ', 'T0123ABCD:A0456'],
])('the routing key %p is %p', (text, key) => {
  expect(adapter.routingKeyOf(text)).toEqual({ key })
})

test.each(['', 'acme.slack.com', 'E0123', 'T0123:', 'T0123:B1', 'T0123:A1:A2', 'T01 23'])('the routing key %p is refused', (text) => {
  expect(adapter.routingKeyOf(text)).toMatchObject({ error: expect.stringContaining('must be the id of a Slack workspace') })
})

test('what is learned must be text', () => {
  expect(adapter.configError({ botUserId: 'U1', dailyJobs: 3 })).toBeUndefined()
  expect(adapter.configError({ teamName: 3 })).toBe('teamName must be text')
})
