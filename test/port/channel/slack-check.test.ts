/** Which tokens prove a workspace of Slack, and which keys name one. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
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

describe('the check', () => {
  const check = (routingKey: string, by = connection) =>
    adapter.check({ ...by, routingKey }, signal)

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
    expect(await check('T061EG9R6:A0OTHER')).toEqual({
      kind: 'refused',
      error: 'the bot token belongs to another app than A0OTHER',
    })
  })

  test.each([
    [
      'another workspace',
      'T0OTHER',
      install.token,
      'the bot token belongs to another Slack workspace than T0OTHER',
    ],
    [
      'an unknown token',
      'T061EG9R6',
      'xoxb-gone',
      'Slack does not accept the bot token (invalid_auth)',
    ],
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
    expect(await check(key, withToken(token))).toEqual({
      kind: 'refused',
      error: expect.stringContaining(error),
    })
  })

  test.each<[string, ReceiverAnswer]>([
    ['is busy', { status: 429, headers: { 'retry-after': '9' } }],
    ['is broken', { status: 502 }],
  ])('proves and refuses nothing if Slack %s', async (_, answer) => {
    slack.next.push(answer)
    expect((await check('T061EG9R6')).kind).toBe('unreachable')
  })

  test('of a person’s token is refused', async () => {
    slack.next.push({
      status: 200,
      body: JSON.stringify({ ok: true, team_id: 'T061EG9R6', user_id: 'U061F7AUR', user: 'ada' }),
    })
    expect((await check('T061EG9R6')).kind).toBe('refused')
  })
})

test.each([
  ['T0123ABCD', 'T0123ABCD'],
  [' t0123abcd:a0456 ', 'T0123ABCD:A0456'],
])('the routing key %p is %p', (text, key) => {
  expect(adapter.routingKeyOf(text)).toEqual({ key })
})

test.each(['', 'acme.slack.com', 'E0123', 'T0123:', 'T0123:B1', 'T0123:A1:A2', 'T01 23'])(
  'the routing key %p is refused',
  (text) => {
    expect(adapter.routingKeyOf(text)).toMatchObject({
      error: expect.stringContaining('must be the id of a Slack workspace'),
    })
  },
)

test('what is learned must be text', () => {
  expect(adapter.configError({ botUserId: 'U1', dailyJobs: 3 })).toBeUndefined()
  expect(adapter.configError({ teamName: 3 })).toBe('teamName must be text')
})
