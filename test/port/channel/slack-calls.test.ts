/**
 * What we ask of Slack, and what its answers mean. The server that plays Slack is judged by Slack's
 * own SDK.
 */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { webApi } from '@slack/bolt'
import { slackForm } from '#domain/agent/channel/forms/slack'
import type { Outgoing } from '#port/channel/channel'
import { slackAdapter } from '#port/channel/slack/adapter'
import { openSlack } from '#test/support/channels/slack'
import { install, slackConnection } from '#test/support/channels/slack-posts'
import { egressTo } from '#test/support/http/egress'
import type { ReceiverAnswer } from '#test/support/http/receiver'

const people = {
  ...install,
  token: ['xoxb', 'no', 'files'].join('-'),
  scopes: ['chat:write', 'im:history'],
}
const deaf = { ...install, token: ['xoxb', 'deaf'].join('-'), scopes: ['chat:write'] }
const mute = {
  ...install,
  token: ['xoxb', 'mute'].join('-'),
  scopes: ['im:history', 'app_mentions:read'],
}

const slack = await openSlack([install, people, deaf, mute])
afterAll(() => slack[Symbol.asyncDispose]())
const adapter = slackAdapter({ egress: egressTo(slack.urls.slack), urls: slack.urls })
const connection = slackConnection()
const { signal } = new AbortController()

beforeEach(() => {
  slack.messages.length = 0
  slack.requests.length = 0
})

const withToken = (botToken: string) => ({
  ...connection,
  credentials: { ...connection.credentials, botToken },
})
const part = (more: Partial<Outgoing> = {}): Outgoing => ({
  id: 'r1',
  part: 0,
  text: 'two are due',
  replyTo: { channel: 'C0LAN2Q65', thread: '1515449522.000016' },
  ...more,
})
const send = (message = part(), by = connection) => adapter.send(by, message, signal)

test('Slack’s own SDK speaks with the server that plays Slack', async () => {
  const client = new webApi.WebClient(install.token, {
    slackApiUrl: `${slack.urls.slack}/`,
    retryConfig: { retries: 0 },
  })
  expect(await client.auth.test()).toMatchObject({
    ok: true,
    team_id: 'T061EG9R6',
    bot_id: 'B0LAN0Z90',
    response_metadata: { scopes: install.scopes },
  })
  expect(await client.bots.info({ bot: 'B0LAN0Z90' })).toMatchObject({
    bot: { app_id: 'A0MDYCDME' },
  })
  expect(
    await client.chat.postMessage({
      channel: 'C0LAN2Q65',
      text: 'hi',
      thread_ts: '1.2',
      unfurl_links: false,
    }),
  ).toMatchObject({
    ok: true,
    message: { text: 'hi' },
  })
  expect(slack.messages).toMatchObject([{ channel: 'C0LAN2Q65', text: 'hi', thread_ts: '1.2' }])
  await expect(client.chat.postMessage({ channel: 'C0NONE', text: 'hi' })).rejects.toThrow(
    'not_in_channel',
  )
  await expect(
    new webApi.WebClient('xoxb-no', { slackApiUrl: `${slack.urls.slack}/` }).auth.test(),
  ).rejects.toThrow('invalid_auth')
  expect(
    slack.requests.every(({ headers }) =>
      String(headers['content-type']).startsWith('application/x-www-form-urlencoded'),
    ),
  ).toBe(true)
})

describe('a message', () => {
  test('goes into its thread, as it is, without previews', async () => {
    const text = '*due*: a &amp; b 👩‍🚀\n&lt;!channel&gt; + 100%'
    const sent = await send(part({ text }))
    expect(sent).toEqual({ kind: 'sent', externalId: slack.messages[0]!.ts })
    expect(slack.messages).toEqual([
      {
        channel: 'C0LAN2Q65',
        thread_ts: '1515449522.000016',
        text,
        ts: expect.any(String),
        by: install.appId,
      },
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
    [
      'not_in_channel',
      { channel: 'C0OTHER' },
      'message',
      'the app is not in the channel: invite it there (not_in_channel)',
    ],
    [
      'channel_not_found',
      { channel: 'D0OTHER' },
      'message',
      'Slack finds no such channel, or the app may not see it (channel_not_found)',
    ],
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
    [
      'a pause asked for',
      { status: 429, headers: { 'retry-after': '30' } },
      { kind: 'unsent', retryAfterMs: 30_000 },
    ],
    [
      'a pause without a time',
      { status: 429 },
      { kind: 'unsent', error: 'Slack asks for a pause (429)' },
    ],
    [
      'rate_limited',
      { ...json({ ok: false, error: 'rate_limited' }), headers: { 'retry-after': '5' } },
      { kind: 'unsent', retryAfterMs: 5_000 },
    ],
    ['team_added_to_org', json({ ok: false, error: 'team_added_to_org' }), { kind: 'unsent' }],
    [
      'token_revoked',
      json({ ok: false, error: 'token_revoked' }),
      { kind: 'refused', of: 'connection' },
    ],
    [
      'account_inactive',
      json({ ok: false, error: 'account_inactive' }),
      { kind: 'refused', of: 'connection' },
    ],
    [
      'a reason that we do not know',
      json({ ok: false, error: 'restricted_action_thread_locked' }),
      { kind: 'refused', of: 'message' },
    ],
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
    [
      'a page in place of an answer',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' },
    ],
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

  test('says nothing of the token in any error', async () => {
    slack.next.push(
      { status: 400, body: install.token },
      json({ ok: false, error: install.token }),
      json({ ok: false, error: 'missing_scope', needed: install.token }),
    )
    for (let i = 0; i < 3; i++) expect(JSON.stringify(await send())).not.toContain(install.token)
  })
})

test('an answer in Markdown arrives as Slack writes it, and mentions nobody', async () => {
  const [text = ''] = slackForm(
    '**Two** are due, <!channel> & <@U061F7AUR>: [the list](https://example.com/a)',
  )
  await send(part({ text }))
  expect(slack.messages[0]!.text).toBe(
    '*Two* are due, &lt;!channel&gt; &amp; &lt;@U061F7AUR&gt;: <https://example.com/a|the list>',
  )
})
