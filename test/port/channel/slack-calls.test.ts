/**
 * What we ask of Slack, and what its answers mean. The server that plays Slack is judged by Slack's
 * own SDK.
 */
import { expect, test } from 'bun:test'
import { webApi } from '@slack/bolt'
import fc from 'fast-check'
import { slackForm } from '#domain/agent/channel/forms/slack'
import type { Outgoing } from '#port/channel/channel'
import { adapterCases, refused, unknown, unsent } from '#test/cases/channel-adapter'
import { deaf, fileless, mute, useSlack } from '#test/support/channels/adapters'
import {
  direct,
  install,
  mention,
  NOW,
  slackEvent,
  slackPost,
} from '#test/support/channels/slack-posts'
import type { ReceiverAnswer } from '#test/support/http/receiver'

const { slack, adapter, connection, withToken } = await useSlack()
const { signal } = new AbortController()

const message: Outgoing = {
  id: 'r1',
  part: 0,
  text: 'two are due',
  replyTo: { channel: 'C0LAN2Q65', thread: '1515449522.000016' },
}
const send = (more: Partial<Outgoing> = {}) =>
  adapter.send(connection, { ...message, ...more }, signal)
const check = (routingKey: string) => adapter.check({ ...connection, routingKey }, signal)

const json = (body: object | string, headers = {}): ReceiverAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const error = (name: string, more = {}) => json({ ok: false, error: name, ...more })
const later = (seconds: number) => ({ 'retry-after': String(seconds) })
const token = (botToken: string, routingKey = 'T061EG9R6') => ({
  ...withToken(botToken),
  routingKey,
})

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.anything().map((event) => {
    const said = mention('', { event, text: event, files: [event], user: event })
    return Buffer.from(JSON.stringify(slackEvent(said)) ?? '')
  }),
  fc.constant(Buffer.from('['.repeat(200_000))),
)
const header = fc.option(
  fc.oneof(
    fc.constantFrom('v0=', 'v0', '=', '0', '-1', '1e3', String(NOW / 1_000)),
    fc.stringMatching(/^[!-~]{0,80}$/),
  ),
)
const anything = fc.tuple(bytes, header, header).map(([body, given, time]) => {
  const headers = new Headers()
  if (given !== null) headers.set('x-slack-signature', given)
  if (time !== null) headers.set('x-slack-request-timestamp', time)
  return { url: 'https://tendril.example.com/x', headers, body, now: NOW }
})
const emptily = () => slackPost(slackEvent(direct('hello')), { secret: '' })

adapterCases<ReceiverAnswer & { taken?: boolean }>({
  adapter,
  connection,
  posts: {
    keyless: [
      [{}, emptily],
      [{ signingSecret: '' }, emptily],
    ],
    anything,
  },
  routingKeys: {
    read: { T0123ABCD: 'T0123ABCD', ' t0123abcd:a0456 ': 'T0123ABCD:A0456' },
    refused: ['', 'acme.slack.com', 'E0123', 'T0123:', 'T0123:B1', 'T0123:A1:A2', 'T01 23'],
  },
  calls: {
    message,
    requests: slack.requests,
    fail: (failure) => void slack.next.push(failure),
    outcomes: {
      'a pause': [{ status: 429, headers: later(30) }, unsent(30_000)],
      'a pause without a time': [
        { status: 429 },
        { ...unsent(), error: 'Slack asks for a pause (429)' },
      ],
      rate_limited: [json({ ok: false, error: 'rate_limited' }, later(5)), unsent(5_000)],
      team_added_to_org: [error('team_added_to_org'), unsent()],
      invalid_auth: [
        error('invalid_auth'),
        refused('connection', 'Slack does not accept the bot token (invalid_auth)'),
      ],
      missing_scope: [
        error('missing_scope', { needed: 'chat:write' }),
        refused('connection', 'the app lacks a scope, chat:write (missing_scope)'),
      ],
      token_revoked: [error('token_revoked'), refused('connection')],
      account_inactive: [error('account_inactive'), refused('connection')],
      'a reason that we do not know': [
        error('restricted_action_thread_locked'),
        refused('message'),
      ],
      'a reason that is no code': [
        error('<b>go to evil.example</b>'),
        refused('message', 'Slack refused (no_reason_given)'),
      ],
      internal_error: [{ ...error('internal_error'), taken: true }, unknown],
      fatal_error: [{ ...error('fatal_error'), taken: true }, unknown],
      'a status of 500': [{ status: 500, body: 'upstream error' }, unknown],
      'a status of 503': [{ status: 503, headers: later(1) }, unknown],
      'a page in place of an answer': [
        { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' },
        unknown,
      ],
      'an answer that breaks off': [
        { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"ok":' },
        unknown,
      ],
      'no answer': [{ raw: '' }, unknown],
      'a redirect': [{ status: 302, headers: { location: 'https://evil.example/' } }, unknown],
      'too long an answer': [json(`{"ok":true,"x":"${'x'.repeat(300_000)}"}`), unknown],
    },
    leaks: {
      secret: install.token,
      failures: [
        { status: 400, body: install.token },
        error(install.token),
        error('missing_scope', { needed: install.token }),
      ],
    },
    unaddressed: { 'no channel': [{ replyTo: {} }] },
  },
  check: {
    refused: {
      'another app': [{ routingKey: 'T061EG9R6:A0OTHER' }, 'belongs to another app than A0OTHER'],
      'another workspace': [
        { routingKey: 'T0OTHER' },
        'the bot token belongs to another Slack workspace than T0OTHER',
      ],
      'an unknown token': [token('xoxb-gone'), 'does not accept the bot token (invalid_auth)'],
      'no token': [token(''), 'Slack got no bot token (not_authed)'],
      'a token that cannot write': [
        token(mute.token),
        'the app lacks the scope chat:write: add it under "OAuth & Permissions" and install the app again',
      ],
      'a token that hears nothing': [token(deaf.token), 'so that it hears nothing'],
      'an app that cannot be told': [token(fileless.token, 'T061EG9R6:A0MDYCDME'), 'users:read'],
    },
    unreachable: {
      'that it is busy': { status: 429, headers: later(9) },
      'that it is broken': { status: 502 },
    },
  },
})

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

test('a message goes into its thread, as it is, without previews', async () => {
  const text = '*due*: a &amp; b 👩‍🚀\n&lt;!channel&gt; + 100%'
  const sent = await send({ text })
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

test('a message goes to a person directly', async () => {
  expect((await send({ replyTo: { channel: 'U061F7AUR' } })).kind).toBe('sent')
  expect(slack.messages).toMatchObject([{ channel: 'D061F7AUR', text: 'two are due' }])
})

test.each([
  ['C0OTHER', 'the app is not in the channel: invite it there (not_in_channel)'],
  ['D0OTHER', 'Slack finds no such channel, or the app may not see it (channel_not_found)'],
  ['C0ARCHIVE', 'the channel is archived (is_archived)'],
])('a message to %s is refused', async (channel, error) => {
  expect(await send({ replyTo: { channel } })).toEqual({ kind: 'refused', of: 'message', error })
})

test('an answer in Markdown arrives as Slack writes it, and mentions nobody', async () => {
  const [text = ''] = slackForm(
    '**Two** are due, <!channel> & <@U061F7AUR>: [the list](https://example.com/a)',
  )
  await send({ text })
  expect(slack.messages[0]!.text).toBe(
    '*Two* are due, &lt;!channel&gt; &amp; &lt;@U061F7AUR&gt;: <https://example.com/a|the list>',
  )
})

test('the check proves the workspace, and learns who we are in it', async () => {
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

test('the check proves the app as well, if the routing key names one', async () => {
  expect((await check('T061EG9R6:A0MDYCDME')).kind).toBe('proven')
})

test('the check refuses the token of a person', async () => {
  slack.next.push({
    status: 200,
    body: JSON.stringify({ ok: true, team_id: 'T061EG9R6', user_id: 'U061F7AUR', user: 'ada' }),
  })
  expect((await check('T061EG9R6')).kind).toBe('refused')
})

test('what is learned must be text', () => {
  expect(adapter.configError({ botUserId: 'U1', dailyJobs: 3 })).toBeUndefined()
  expect(adapter.configError({ teamName: 3 })).toBe('teamName must be text')
})
