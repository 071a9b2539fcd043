/**
 * The posts of Slack and of WhatsApp at our door: handshakes, what they send again, and posts for
 * several connections.
 */
import { describe, expect, test } from 'bun:test'
import { eventually } from '#test/support/app'
import { channelAdmin } from '#test/support/channels/channels'
import { channelJobs, messagesOf } from '#test/support/channels/dev-posts'
import { openSlack } from '#test/support/channels/slack'
import {
  direct,
  install,
  mention,
  retryHeaders,
  type SlackInstall,
  signedBySlack,
  slackEvent,
} from '#test/support/channels/slack-posts'
import { openMeta } from '#test/support/channels/whatsapp'
import {
  type Business,
  messagesOf as bodyOf,
  business,
  change,
  metaJson,
  postOf,
  said,
  signedByMeta,
  status,
} from '#test/support/channels/whatsapp-posts'
import { scriptedModel } from '#test/support/model/scripted-model'
import { use, useApp } from '#test/support/use'

/** A number of another business, whose app has a secret of its own. */
const other: Business = {
  ...{
    accessToken: 'EAAJother',
    appSecret: 'e5c7d1107b5ea6ae2d9bb7a2a3f4b5c6',
    verifyToken: 'another-token-98765',
  },
  ...{ phoneNumberId: '106540352242999', displayPhoneNumber: '15550783882' },
}
const slack = use(() => openSlack())
const meta = use(() => openMeta([business, other]))
const app = useApp(() => {
  const hosts = [slack.urls.slack, meta.urls.whatsapp].map((url) => new URL(url).host)
  return {
    overrides: { thinker: scriptedModel(() => ({ text: 'Seen.' })) },
    env: {
      ...{
        OPENAI_API_KEY: 'none',
        OPENAI_BASE_URL: 'http://127.0.0.1:9',
        PUBLIC_URL: 'https://tendril.example.com',
      },
      ...{
        CHANNEL_URLS: JSON.stringify({ ...slack.urls, ...meta.urls }),
        EGRESS_ALLOW: hosts.join(','),
      },
    },
  }
})

const post = async (
  channel: string,
  body: object | string,
  headers: (text: string) => Record<string, string>,
) => {
  const text =
    typeof body === 'string' ? body : channel === 'whatsapp' ? metaJson(body) : JSON.stringify(body)
  const response = await fetch(`${app.url}/webhooks/channels/${channel}`, {
    method: 'POST',
    headers: headers(text),
    body: text,
  })
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    text: await response.text(),
  }
}

const fromSlack = (body: object, more: Record<string, string> = {}, at = Date.now()) =>
  post('slack', body, (text) => ({ ...signedBySlack(install.signingSecret, text, at), ...more }))
const fromMeta = (body: object, of: Business = business) =>
  post('whatsapp', body, (text) => signedByMeta(of.appSecret, text))

const connected = async (body: Record<string, unknown>) => {
  const { tenantId } = await app.newWorkspace()
  const { active, send } = await channelAdmin(app, tenantId)
  const id = await active({ senderPolicy: 'anyone', ...body })
  const remove = () => send('DELETE', `channels/${id}`)
  return { tenantId, id, remove, [Symbol.asyncDispose]: async () => void (await remove()) }
}

const slackCredentials = ({ token, signingSecret }: SlackInstall = install) => ({
  botToken: token,
  signingSecret,
})
const inSlack = (routingKey = install.teamId) =>
  connected({ channel: 'slack', routingKey, credentials: slackCredentials() })
const inWhatsApp = ({ accessToken, appSecret, verifyToken, phoneNumberId }: Business = business) =>
  connected({
    channel: 'whatsapp',
    routingKey: phoneNumberId,
    credentials: { accessToken, appSecret, verifyToken },
  })

describe('Slack', () => {
  test('gets its challenge back before anybody has connected it, and 503 for all else', async () => {
    const challenge = '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P'
    const asked = await post(
      'slack',
      { token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl', challenge, type: 'url_verification' },
      () => ({
        'content-type': 'application/json',
      }),
    )
    expect([asked.status, asked.text.includes(challenge)]).toEqual([200, true])
    const check = await post('slack', 'ssl_check=1&token=Jhj5dZrVaK7ZwHHjRyZWjbDl', () => ({
      'content-type': 'application/x-www-form-urlencoded',
    }))
    expect(check.status).toBe(200)
    const early = await fromSlack(slackEvent(direct('hello')))
    expect([early.status, JSON.parse(early.text).error.code]).toEqual([503, 'channel_unconfigured'])
  })

  test('begins one job, however often it sends an event again', async () => {
    await using channel = await inSlack()
    const event = slackEvent(mention('When do you open?'))
    const first = await fromSlack(event)
    expect([first.status, JSON.parse(first.text)]).toEqual([200, { received: true }])
    for (const [nth, reason] of ['http_timeout', 'connection_failed', 'unknown_error'].entries())
      expect((await fromSlack(event, retryHeaders(nth + 1, reason))).status).toBe(200)
    const jobs = await channelJobs(app, channel)
    expect(jobs.map(({ goal }) => goal)).toEqual(['When do you open?'])
  })

  test('is refused for an event that is late, altered, or of a workspace that nobody has connected', async () => {
    await using channel = await inSlack()
    const refusals = [
      await fromSlack(slackEvent(direct('late')), {}, Date.now() - 330_000),
      await fromSlack(slackEvent(direct('altered')), {
        'x-slack-signature': `v0=${'0'.repeat(64)}`,
      }),
      await fromSlack(
        slackEvent(direct('foreign'), {
          team_id: 'T0NOBODY',
          context_team_id: 'T0NOBODY',
          authorizations: [],
        }),
      ),
    ]
    expect(refusals.map(({ status: code }) => code)).toEqual([401, 401, 401])
    expect(new Set(refusals.map(({ text }) => JSON.parse(text).error.message)).size).toBe(1)
    expect(await channelJobs(app, channel)).toEqual([])
  })

  test('has an event taken by one of two connections: that of the app, before that of the team', async () => {
    await using team = await inSlack()
    await using ofApp = await inSlack(`${install.teamId}:${install.appId}`)
    expect((await fromSlack(slackEvent(direct('Who am I?')))).status).toBe(200)
    expect(
      [await channelJobs(app, ofApp), await channelJobs(app, team)].map(({ length }) => length),
    ).toEqual([1, 0])
  })

  test('begins nothing by what its own app has said', async () => {
    await using channel = await inSlack()
    const own = direct('I am a bot', { bot_id: install.botId, subtype: 'bot_message' })
    expect((await fromSlack(slackEvent(own))).status).toBe(200)
    expect([await channelJobs(app, channel), await messagesOf(app, channel)]).toEqual([[], []])
  })
})

describe('WhatsApp', () => {
  const challenged = async (
    query: Record<string, string>,
    method = 'GET',
    channel = 'whatsapp',
  ) => {
    const response = await fetch(
      `${app.url}/webhooks/channels/${channel}?${new URLSearchParams(query)}`,
      { method },
    )
    return [response.status, response.headers.get('content-type'), await response.text()] as const
  }

  test('gets its challenge back, if a connection has the verify token', async () => {
    await using channel = await inWhatsApp()
    const asked = {
      'hub.mode': 'subscribe',
      'hub.challenge': '1158201444',
      'hub.verify_token': business.verifyToken,
    }
    expect(await challenged(asked)).toEqual([200, 'text/plain; charset=utf-8', '1158201444'])
    const wrong = [
      { ...asked, 'hub.verify_token': 'wrong' },
      { ...asked, 'hub.mode': 'unsubscribe' },
      { ...asked, 'hub.challenge': '' },
      { ...asked, 'hub.challenge': '1'.repeat(1_001) },
      {},
    ]
    for (const query of wrong)
      expect((await challenged(query as Record<string, string>))[0]).toBe(403)
    expect((await challenged(asked, 'GET', 'slack'))[0]).toBe(405)
    expect((await challenged(asked, 'GET', 'fax'))[0]).toBe(404)
    await channel.remove()
    expect((await challenged(asked))[0]).toBe(403)
  })

  test('begins one job for each message, however often and in whatever order it sends them', async () => {
    await using channel = await inWhatsApp()
    const [one, two] = [said('One'), said('Two', { from: '16505559999', from_user_id: 'US.99' })]
    for (const body of [bodyOf(two), bodyOf(one, two), bodyOf(one), bodyOf(two, one)])
      expect((await fromMeta(body)).status).toBe(200)
    expect((await channelJobs(app, channel)).map(({ goal }) => goal).sort()).toEqual(['One', 'Two'])
    expect((await fromMeta(postOf([change({ statuses: [status('wamid.x')] })]))).status).toBe(200)
    expect(await messagesOf(app, channel)).toHaveLength(2)
  })

  test('hands each connection its part of a post, as far as it carries its signature', async () => {
    await using ours = await inWhatsApp()
    await using theirs = await inWhatsApp(other)
    const both = postOf(
      [change({ messages: [said('Ours')] })],
      [change({ messages: [said('Theirs')] }, other)],
    )
    expect((await fromMeta(both)).status).toBe(200)
    expect(
      [await channelJobs(app, ours), await channelJobs(app, theirs)].map((jobs) =>
        jobs.map(({ goal }) => goal),
      ),
    ).toEqual([['Ours'], []])
    expect((await fromMeta(both, other)).status).toBe(200)
    expect((await channelJobs(app, theirs)).map(({ goal }) => goal)).toEqual(['Theirs'])
    expect((await fromMeta(both, { ...other, appSecret: 'nobodys' })).status).toBe(401)
  })

  test('takes the messages of a person in their order, and those of others beside', async () => {
    await using channel = await inWhatsApp()
    const people = Array.from({ length: 10 }, (_, nth) => ({
      from: `1650555${1_000 + nth}`,
      from_user_id: `US.${nth}`,
    }))
    const all = Array.from({ length: 30 }, (_, nth) =>
      said(`${Math.floor(nth / 10)} of ${nth % 10}`, people[nth % 10]!),
    )
    expect((await fromMeta(bodyOf(...all))).status).toBe(200)
    const jobs = await eventually(
      () => channelJobs(app, channel),
      ({ length }) => length === 30,
    )
    const byThread = Map.groupBy(jobs, ({ conversation_id }) => conversation_id)
    expect(
      [...byThread.values()].map((some) => some.map(({ goal }) => goal.split(' ')[0])),
    ).toEqual(Array(10).fill(['0', '1', '2']))
  })
})
