/** Slack: an app of a workspace that people mention in channels or write to directly. */

import { asObject } from '#port/fields'
import type { Unsent } from '../answers.ts'
import type {
  ChannelAdapter,
  CredentialCheck,
  InboundPost,
  OpenConnection,
  Outgoing,
  SendResult,
} from '../channel.ts'
import { broughtBy } from '../passed-on.ts'
import { isHmac } from '../signature.ts'
import { downloadSlackFile, type SlackParts } from './files.ts'
import { readSlackPost, routeSlackPost } from './read.ts'
import { callSlack } from './web-api.ts'

const ROUTING_KEY = /^(T[A-Z0-9]{1,30})(?::(A[A-Z0-9]{1,30}))?$/
/** Learned by `check`. */
const LEARNED = ['botUserId', 'botId', 'botName', 'teamName', 'teamUrl']
/** How far the time of a post may be from ours. */
const TOLERANCE_S = 300
/** One message per second and channel. */
const SPACING_MS = 1_000

const fields: ChannelAdapter['fields'] = {
  credentials: {
    botToken: {
      needed: true,
      description: 'Bot User OAuth Token (xoxb-…) of the app, from "OAuth & Permissions"',
    },
    signingSecret: {
      needed: true,
      description: 'Signing Secret of the app, from "Basic Information"',
    },
  },
  config: {
    botUserId: {
      description:
        'user id of the app, such as U012AB3CD; Slack tells it when the connection is checked',
    },
    botId: { description: 'id of the bot; Slack tells it when the connection is checked' },
    botName: {
      description: 'name of the app in Slack; Slack tells it when the connection is checked',
    },
    teamName: {
      description: 'name of the workspace in Slack; Slack tells it when the connection is checked',
    },
    teamUrl: {
      description:
        'address of the workspace in Slack; Slack tells it when the connection is checked',
    },
  },
}

const routingKeyOf: ChannelAdapter['routingKeyOf'] = (text) => {
  const key = text.trim().toUpperCase()
  if (ROUTING_KEY.test(key)) return { key }
  return {
    error:
      'must be the id of a Slack workspace such as T0123ABCD, or of a workspace and an app such as T0123ABCD:A0123ABCD',
  }
}

const configError: ChannelAdapter['configError'] = (config) => {
  const wrong = LEARNED.find(
    (name) => config[name] !== undefined && typeof config[name] !== 'string',
  )
  return wrong && `${wrong} must be text`
}

const verify = ({ headers, body, now }: InboundPost, { credentials }: OpenConnection): boolean => {
  const [secret, sent, timestamp] = [
    credentials.signingSecret ?? '',
    headers.get('x-slack-signature'),
    headers.get('x-slack-request-timestamp'),
  ]
  const isSigned = isHmac((sent ?? '').replace(/^v0=/, ''), secret, `v0:${timestamp}:`, body)
  const isTimely =
    /^\d{1,12}$/.test(timestamp ?? '') && Math.abs(Number(timestamp) - now / 1_000) <= TOLERANCE_S
  return isSigned && isTimely && secret !== '' && sent!.startsWith('v0=')
}

const unproven = (outcome: Unsent): CredentialCheck =>
  outcome.kind === 'refused'
    ? { kind: 'refused', error: outcome.error }
    : { kind: 'unreachable', error: outcome.error }

const NEEDS = 'add it under "OAuth & Permissions" and install the app again'

/**
 * The scope that the token needs but lacks. Undefined if Slack does not say which scopes the token
 * has.
 */
const missingScope = (scopes: readonly string[] | undefined): string | undefined => {
  if (!scopes) return undefined
  if (!scopes.includes('chat:write')) return `the app lacks the scope chat:write: ${NEEDS}`
  const hears = ['app_mentions:read', 'im:history'].some((scope) => scopes.includes(scope))
  return hears
    ? undefined
    : `the app has neither of the scopes app_mentions:read and im:history, so that it hears nothing: ${NEEDS}`
}

const learnedFrom = (answer: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries({
      botUserId: answer.user_id,
      botId: answer.bot_id,
      botName: answer.user,
      teamName: answer.team,
      teamUrl: answer.url,
    }).filter(([, value]) => typeof value === 'string' && value.length <= 200),
  )

/** `auth.test` does not name the app, but the bot's own record does. */
const checkApp = async (
  { egress, urls }: SlackParts,
  app: string,
  bot: string,
  { token, signal }: Asking,
): Promise<CredentialCheck> => {
  const outcome = await callSlack(egress, {
    url: `${urls.slack}/bots.info`,
    token,
    args: { bot },
    signal,
  })
  if (outcome.kind === 'refused' && outcome.error.includes('missing_scope'))
    return {
      kind: 'refused',
      error: `the app lacks the scope users:read, which tells its id: ${NEEDS}, or leave the app out of the routing key`,
    }
  if (outcome.kind !== 'ok') return unproven(outcome)
  const actual = asObject(outcome.answer.bot).app_id
  return actual === app
    ? { kind: 'proven' }
    : { kind: 'refused', error: `the bot token belongs to another app than ${app}` }
}

interface Asking {
  token: string
  signal: AbortSignal
}

const check = async (
  parts: SlackParts,
  { routingKey, credentials }: OpenConnection,
  signal: AbortSignal,
): Promise<CredentialCheck> => {
  const [, team, app] = ROUTING_KEY.exec(routingKey) ?? []
  const token = credentials.botToken ?? ''
  const outcome = await callSlack(parts.egress, {
    url: `${parts.urls.slack}/auth.test`,
    token,
    args: {},
    signal,
  })
  if (outcome.kind !== 'ok') return unproven(outcome)
  const { answer, scopes } = outcome
  if (answer.team_id !== team)
    return {
      kind: 'refused',
      error: `the bot token belongs to another Slack workspace than ${team}`,
    }
  if (typeof answer.bot_id !== 'string')
    return { kind: 'refused', error: 'the token is a person’s: the bot token begins with xoxb-' }
  const missing = missingScope(scopes)
  if (missing !== undefined) return { kind: 'refused', error: missing }
  const proof: CredentialCheck =
    app === undefined
      ? { kind: 'proven' }
      : await checkApp(parts, app, answer.bot_id, { token, signal })
  return proof.kind === 'proven' ? { ...proof, learned: learnedFrom(answer) } : proof
}

const send = async (
  parts: SlackParts,
  { credentials }: OpenConnection,
  message: Outgoing,
  signal: AbortSignal,
): Promise<SendResult> => {
  const { channel, thread } = message.replyTo
  if (typeof channel !== 'string')
    return { kind: 'refused', error: 'the message has no channel to go to', of: 'message' }
  // Previews would make Slack call addresses that the text names.
  const args = {
    channel,
    text: message.text,
    ...(typeof thread === 'string' ? { thread_ts: thread } : {}),
    unfurl_links: 'false',
    unfurl_media: 'false',
  }
  const url = `${parts.urls.slack}/chat.postMessage`
  const outcome = await callSlack(parts.egress, {
    url,
    token: credentials.botToken ?? '',
    args,
    signal,
  })
  if (outcome.kind !== 'ok') return outcome
  const { ts } = outcome.answer
  return { kind: 'sent', externalId: typeof ts === 'string' ? ts.slice(0, 40) : null }
}

export const slackAdapter = (parts: SlackParts): ChannelAdapter => ({
  channel: 'slack',
  fields,
  spacingMs: SPACING_MS,
  routingKeyOf,
  configError,
  route: routeSlackPost,
  verify,
  read: readSlackPost,
  check: (connection, signal) => check(parts, connection, signal),
  send: (connection, message, signal) => send(parts, connection, message, signal),
  download: async (connection, ref, signal) =>
    broughtBy(ref) ?? downloadSlackFile(parts, connection, ref, signal),
})
