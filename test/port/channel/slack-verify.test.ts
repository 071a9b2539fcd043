/**
 * Whose posts are believed, judged by the verifier of Slack's own SDK on the same posts, and which
 * connection they are for.
 */
import { describe, expect, test } from 'bun:test'
import { isValidSlackRequest } from '@slack/bolt'
import type { InboundPost } from '#port/channel/channel'
import { readSlackPost, routeSlackPost } from '#port/channel/slack/read'
import { useSlack } from '#test/support/channels/adapters'
import {
  direct,
  install,
  mention,
  NOW,
  slackEvent,
  slackPost,
} from '#test/support/channels/slack-posts'

const { adapter, connection } = await useSlack()

const bySdk = (
  { headers, body, now }: InboundPost,
  signingSecret = install.signingSecret,
): boolean =>
  isValidSlackRequest({
    signingSecret,
    body: Buffer.from(body).toString(),
    headers: {
      'x-slack-signature': headers.get('x-slack-signature') ?? '',
      'x-slack-request-timestamp': Number(headers.get('x-slack-request-timestamp') ?? 'none'),
    },
    nowMilliseconds: now,
  })

const MINUTE = 60_000
const hello = slackEvent(mention('hello'))
const signature = (post: InboundPost): string => post.headers.get('x-slack-signature')!
const withHeader = (name: string, value: string | undefined): InboundPost => {
  const post = slackPost(hello)
  if (value === undefined) post.headers.delete(name)
  else post.headers.set(name, value)
  return post
}

test.each([
  ['a mention', slackPost(hello)],
  ['text in many scripts', slackPost(slackEvent(direct('été ☕ 漢字 👩‍🚀 \u2028')))],
  ['a body that is no JSON', slackPost('ssl_check=0&team_id=T061EG9R6')],
  ['an empty body', slackPost('')],
  ['one that was sent almost five minutes ago', slackPost(hello, { at: NOW - 5 * MINUTE })],
  [
    'a retry',
    slackPost(hello, {
      headers: { 'x-slack-retry-num': '2', 'x-slack-retry-reason': 'http_timeout' },
    }),
  ],
])('taken, as by the SDK: %s', (_, post) => {
  expect({ ours: adapter.verify(post, connection), sdk: bySdk(post) }).toEqual({
    ours: true,
    sdk: true,
  })
})

test.each([
  ['signed with another secret', slackPost(hello, { secret: 'e6b19c573432dcc6b075501d51b51bb8' })],
  ['of six minutes ago', slackPost(hello, { at: NOW - 6 * MINUTE })],
  ['with one more space', { ...slackPost(hello), body: Buffer.from(`${JSON.stringify(hello)} `) }],
  [
    'for another event',
    { ...slackPost(hello), body: Buffer.from(JSON.stringify(slackEvent(mention('pay')))) },
  ],
  ['without a signature', withHeader('x-slack-signature', undefined)],
  ['without a time', withHeader('x-slack-request-timestamp', undefined)],
  ['with another time', withHeader('x-slack-request-timestamp', String(NOW / 1_000 - 1))],
  ['with a time that is no number', withHeader('x-slack-request-timestamp', 'soon')],
  [
    'of another version',
    withHeader('x-slack-signature', signature(slackPost(hello)).replace('v0=', 'v1=')),
  ],
  [
    'with a signature cut short',
    withHeader('x-slack-signature', signature(slackPost(hello)).slice(0, -1)),
  ],
  ['with an empty signature', withHeader('x-slack-signature', 'v0=')],
])('refused, as by the SDK: %s', (_, post) => {
  expect({ ours: adapter.verify(post, connection), sdk: bySdk(post) }).toEqual({
    ours: false,
    sdk: false,
  })
})

test('refused, where the SDK does not look: a post from the future, and a signature without its version', () => {
  expect(adapter.verify(slackPost(hello, { at: NOW + 6 * MINUTE }), connection)).toBe(false)
  expect(
    adapter.verify(
      withHeader('x-slack-signature', signature(slackPost(hello)).slice('v0='.length)),
      connection,
    ),
  ).toBe(false)
})

test('the example of Slack’s documentation is taken', () => {
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA' +
    '&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554' +
    '%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
  const headers = new Headers({
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    'x-slack-request-timestamp': '1531420618',
  })
  const post = {
    url: 'https://tendril.example.com/',
    headers,
    body: Buffer.from(body),
    now: 1_531_420_620_000,
  }
  expect(adapter.verify(post, connection)).toBe(true)
  expect(
    adapter.verify(
      { ...post, body: Buffer.from(body.replace('roadrunner', 'coyote')) },
      connection,
    ),
  ).toBe(false)
})

describe('handshakes', () => {
  test('the challenge of an address comes back, and nothing else of the post counts', () => {
    const post = slackPost({
      token: 'x',
      challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
      type: 'url_verification',
      team_id: 'T1',
    })
    expect(routeSlackPost(post)).toEqual({
      kind: 'handshake',
      status: 200,
      contentType: 'application/json',
      body: '{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}',
    })
  })

  test.each([
    ['a form', slackPost('ssl_check=1&token=abc')],
    [
      'the query',
      { ...slackPost(''), url: 'https://tendril.example.com/webhooks/channels/slack?ssl_check=1' },
    ],
  ])('a check of the certificate, in %s, is answered with 200', (_, post) => {
    expect(routeSlackPost(post)).toMatchObject({ kind: 'handshake', status: 200, body: '' })
  })

  test.each([
    ['a challenge that is no text', { type: 'url_verification', challenge: 7 }],
    ['an empty object', {}],
    ['a list', [] as object],
    [
      'a team that is none',
      slackEvent(mention('x'), { authorizations: [], context_team_id: null, team_id: 'C012' }),
    ],
  ])('%s names nobody', (_, body) => {
    expect(routeSlackPost(slackPost(body))).toEqual({ kind: 'unknown' })
  })
})

describe('routes', () => {
  test('a post names its workspace with the app, then alone', () => {
    expect(routeSlackPost(slackPost(slackEvent(mention('x'))))).toEqual({
      kind: 'keys',
      keys: ['T061EG9R6:A0MDYCDME', 'T061EG9R6'],
    })
  })

  test('in a shared channel the installation counts, not the workspace where the event occurred', () => {
    const shared = slackEvent(mention('x'), { team_id: 'T0OTHER', is_ext_shared_channel: true })
    expect(routeSlackPost(slackPost(shared))).toEqual({
      kind: 'keys',
      keys: ['T061EG9R6:A0MDYCDME', 'T061EG9R6'],
    })
  })

  test('an old post without installations names its own workspace', () => {
    const { authorizations: _, context_team_id: __, ...old } = slackEvent(mention('x'))
    expect(routeSlackPost(slackPost(old))).toMatchObject({
      keys: ['T061EG9R6:A0MDYCDME', 'T061EG9R6'],
    })
  })

  test('a post for another workspace holds nothing for this connection', () => {
    const authorizations = [{ team_id: 'T0OTHER', user_id: 'U1', is_bot: true }]
    expect(
      readSlackPost(slackPost(slackEvent(mention('x'), { authorizations })), connection),
    ).toEqual([])
  })
})
