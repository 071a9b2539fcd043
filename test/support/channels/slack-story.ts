/**
 * A workspace of Slack that is connected with a workspace of ours: people write in it, and read
 * what the app answers.
 */
import { expect } from 'bun:test'
import type { TestApp } from '../app.ts'
import { eventually } from '../eventually.ts'
import { channelAdmin } from './channels.ts'
import type { FakeSlack, SlackMessage } from './slack.ts'
import {
  direct,
  install,
  mention,
  retryHeaders,
  type SlackInstall,
  signedBySlack,
  slackEvent,
} from './slack-posts.ts'

let count = 0

const newInstall = (): SlackInstall => {
  const n = String(++count).padStart(4, '0')
  return {
    ...install,
    ...{
      token: ['xoxb', n, crypto.randomUUID()].join('-'),
      teamId: `T${n}TEAM`,
      appId: `A${n}APP`,
      botUserId: `U${n}BOT`,
      botId: `B${n}BOT`,
    },
    signingSecret: crypto.randomUUID().replaceAll('-', ''),
  }
}

export interface Posted {
  status: number
  body: string
}

interface Deliver {
  headers?: Record<string, string>
  secret?: string
}

let clock = 1_700_000_000
const newTs = (): string => `${++clock}.000200`

export const slackStory = async (
  app: TestApp,
  slack: FakeSlack,
  options: Record<string, unknown> = {},
) => {
  const { tenantId } = await app.newWorkspace()
  const admin = await channelAdmin(app, tenantId)
  const team = newInstall()
  slack.installs.push(team)
  const id = await admin.active({
    ...{ channel: 'slack', routingKey: `${team.teamId}:${team.appId}` },
    credentials: { botToken: team.token, signingSecret: team.signingSecret },
    ...options,
  })

  /** As Slack posts it: signed now. */
  const deliver = async (
    body: object,
    { headers = {}, secret = team.signingSecret }: Deliver = {},
  ): Promise<Posted> => {
    const text = JSON.stringify(body)
    const signed = { ...signedBySlack(secret, text, Date.now()), ...headers }
    const response = await fetch(`${app.url}/webhooks/channels/slack`, {
      method: 'POST',
      headers: signed,
      body: text,
    })
    return { status: response.status, body: await response.text() }
  }

  const asked = async (event: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const body = slackEvent(event, {}, team)
    expect(await deliver(body)).toEqual({ status: 200, body: '{"received":true}' })
    return body
  }

  /** Somebody mentions the app in the channel. Gives the thread. */
  const mentions = async (
    user: string,
    text: string,
    thread?: string,
  ): Promise<{ thread: string; body: Record<string, unknown> }> => {
    const ts = newTs()
    const said = {
      user,
      ts,
      team: team.teamId,
      text: `<@${team.botUserId}> ${text}`,
      ...(thread ? { thread_ts: thread } : {}),
    }
    return { thread: thread ?? ts, body: await asked(mention(text, said)) }
  }

  /** Somebody writes to the app directly. */
  const writes = (user: string, text: string, more: Record<string, unknown> = {}) =>
    asked(direct(text, { user, ts: newTs(), team: team.teamId, ...more }))

  /** What the app has posted in a thread, or in a channel outside of threads. */
  const read = ({
    channel = 'C0LAN2Q65',
    thread,
  }: {
    channel?: string
    thread?: string
  }): SlackMessage[] =>
    slack.messages.filter(
      (message) =>
        message.channel === channel && message.thread_ts === thread && message.by === team.appId,
    )

  const reads = (where: { channel?: string; thread?: string }, many: number): Promise<string[]> =>
    eventually(
      () => read(where).map(({ text }) => text),
      (texts) => texts.length >= many,
    )

  /** Slack's second try of a post. */
  const retries = (body: object, times: number) => deliver(body, { headers: retryHeaders(times) })

  return { ...admin, id, tenantId, team, deliver, mentions, writes, reads, retries }
}
