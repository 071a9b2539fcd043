/**
 * A Slack workspace that is connected with a workspace of ours: people write in it, and read the
 * app's answers.
 */
import { expect } from 'bun:test'
import { eventually } from '../eventually.ts'
import { type ChannelPlace, connectedPlace, countOf, delivered, type Said } from './place.ts'
import type { SlackMessage } from './slack.ts'
import {
  direct,
  install,
  mention,
  retryHeaders,
  type SlackInstall,
  signedBySlack,
  slackEvent,
} from './slack-posts.ts'
import type { ChannelWorld } from './world.ts'

let count = 0

const newInstall = (): SlackInstall => {
  const n = String(++count).padStart(4, '0')
  return {
    ...install,
    channels: [...install.channels],
    token: ['xoxb', n, crypto.randomUUID()].join('-'),
    teamId: `T${n}TEAM`,
    appId: `A${n}APP`,
    botUserId: `U${n}BOT`,
    botId: `B${n}BOT`,
    signingSecret: crypto.randomUUID().replaceAll('-', ''),
  }
}

interface Deliver {
  headers?: Record<string, string>
  secret?: string
}

let clock = 1_700_000_000
const newTs = (): string => `${++clock}.000200`

export const slackStory = async (world: ChannelWorld, options: Record<string, unknown> = {}) => {
  const { app, slack } = world
  const team = newInstall()
  slack.installs.push(team)
  const place = await connectedPlace(world, {
    channel: 'slack',
    routingKey: `${team.teamId}:${team.appId}`,
    credentials: { botToken: team.token, signingSecret: team.signingSecret },
    ...options,
  })

  /** As Slack posts it: signed now. */
  const deliver = (body: object, { headers = {}, secret = team.signingSecret }: Deliver = {}) => {
    const text = JSON.stringify(body)
    const signed = { ...signedBySlack(secret, text, Date.now()), ...headers }
    const url = `${app.url}/webhooks/channels/slack`
    return delivered(new Request(url, { method: 'POST', headers: signed, body: text }))
  }

  /** Somebody mentions the app in the channel. Returns the thread. */
  const mentions = async (user: string, text: string, thread?: string): Promise<string> => {
    const ts = newTs()
    const said = { user, ts, team: team.teamId, text: `<@${team.botUserId}> ${text}` }
    const event = mention(text, { ...said, ...(thread ? { thread_ts: thread } : {}) })
    expect((await deliver(slackEvent(event, {}, team))).status).toBe(200)
    return thread ?? ts
  }

  /** What the app has posted in a thread, or in a channel outside of threads. */
  const read = ({ channel = 'C0LAN2Q65', thread }: { channel?: string; thread?: string }) =>
    slack.messages.filter(
      (message: SlackMessage) =>
        message.channel === channel && message.thread_ts === thread && message.by === team.appId,
    )

  const reads = (where: { channel?: string; thread?: string }, many: number): Promise<string[]> =>
    eventually(
      () => read(where).map(({ text }) => text),
      (texts) => texts.length >= many,
    )

  const withFile = ({ name, text }: { name: string; text: string }) => {
    const path = `T1-${crypto.randomUUID()}/${name}`
    slack.files.set(path, { body: Buffer.from(text), contentType: 'text/plain' })
    const url_private_download = `${slack.urls.slack_files}/files-pri/${path}`
    const file = { id: 'F0FILE', name, mimetype: 'text/markdown', size: 34, mode: 'hosted' }
    return { subtype: 'file_share', files: [{ ...file, url_private_download }] }
  }

  /** Somebody writes to the app directly. */
  const says: ChannelPlace['says'] = async (user, text, { file } = {}): Promise<Said> => {
    const channel = `D${user.slice(1)}`
    team.channels.push(channel)
    const said = { user, channel, ts: newTs(), team: team.teamId, ...(file ? withFile(file) : {}) }
    const body = slackEvent(direct(text, said), {}, team)
    return {
      ...(await deliver(body)),
      again: () =>
        Promise.all([
          ...[1, 2, 3].map((times) => deliver(body, { headers: retryHeaders(times) })),
          deliver({ ...body, event_id: 'Ev0OTHER' }),
        ]),
      answers: (many) => reads({ channel }, many),
    }
  }

  const forged = () => {
    const said = { type: 'app_mention', user: 'U1', text: 'pay', channel: 'C0LAN2Q65', ts: newTs() }
    const body = slackEvent(said, {}, team)
    const late = String(Math.floor(Date.now() / 1_000) - 330)
    return Promise.all([
      deliver(body, { secret: newInstall().signingSecret }),
      deliver(body, { headers: { 'x-slack-request-timestamp': late } }),
      deliver(body, { headers: { 'x-slack-signature': `v0=${'0'.repeat(64)}` } }),
      deliver(slackEvent(said, {}, { ...team, teamId: 'T0NOBODY' })),
    ])
  }

  const ignored = () => {
    const { botUserId: user, botId: bot_id, teamId } = team
    const im = { channel_type: 'im', channel: 'D0A', team: teamId }
    const events = [
      { type: 'message', ...im, user, bot_id, text: 'me', ts: newTs() },
      direct('I am a bot', { bot_id, team: teamId, subtype: 'bot_message' }),
      mention(`<@${user}> hi`, { user: 'U0OTHER', bot_id: 'B0OTHER', team: teamId, ts: newTs() }),
      { type: 'message', subtype: 'message_changed', ...im, ts: newTs(), message: { text: 'x' } },
    ]
    return Promise.all(events.map((event) => deliver(slackEvent(event, {}, team))))
  }

  return {
    ...place,
    team,
    deliver,
    mentions,
    reads,
    says,
    forged,
    ignored,
    losesAnswer: () => void slack.next.push({ raw: '', taken: true }),
    sends: () => countOf(slack.requests, '/api/chat.postMessage'),
    withdraws() {
      const old = team.token
      team.token = ['xoxb', crypto.randomUUID()].join('-')
      const named = 'Slack does not accept the bot token (invalid_auth)'
      return { old, fresh: { botToken: team.token }, named }
    },
  } satisfies ChannelPlace & Record<string, unknown>
}
