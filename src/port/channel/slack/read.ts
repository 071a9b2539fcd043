/**
 * Posts of Slack's Events API. Nothing here believes a post, because `verify` comes between `route`
 * and `read`.
 */

import {
  asObject,
  type JsonObject,
  objectsIn,
  parseObject,
  readId,
  readSize,
  storableText,
} from '#port/fields'
import type {
  Attachment,
  InboundMessage,
  InboundMessages,
  InboundPost,
  OpenConnection,
  Routed,
} from '../channel.ts'
import { passedOn } from '../passed-on.ts'
import { plainTextOf } from './text.ts'

const TEAM = /^T[A-Z0-9]{1,30}$/
const APP = /^A[A-Z0-9]{1,30}$/
const USER = /^[UW][A-Z0-9]{1,30}$/
const CONVERSATION = /^[A-Z][A-Z0-9]{1,30}$/
const TIMESTAMP = /^\d{1,16}\.\d{1,10}$/
const EVENT = /^Ev[A-Za-z0-9]{1,60}$/
/** Slack's own account, whose messages no person wrote. */
const SLACKBOT = 'USLACKBOT'

const slackLimits = {
  files: 20,
  /** Longer than Slack lets a person write. */
  textLength: 40_000,
  nameLength: 255,
  challengeLength: 1_000,
  formLength: 1_000,
} as const

/**
 * The subtypes of messages that people write. Other subtypes are edits, joins, or messages of
 * programs.
 */
const SPOKEN = [undefined, 'file_share', 'thread_broadcast', 'me_message']

/**
 * Slack sometimes checks whether the address has a certificate. It sends a form for that and does
 * not sign it.
 */
const isCertificateCheck = ({ url, body }: InboundPost): boolean => {
  if (URL.parse(url)?.searchParams.get('ssl_check') === '1') return true
  return (
    body.length <= slackLimits.formLength &&
    new URLSearchParams(new TextDecoder().decode(body)).get('ssl_check') === '1'
  )
}

/**
 * The workspace in which the app that gets the event is installed. In a channel that several
 * workspaces share, `team_id` may be another one.
 */
const teamOf = (envelope: JsonObject): string | undefined => {
  const [installation] = objectsIn(envelope.authorizations, 1)
  return (
    readId(installation?.team_id, TEAM) ??
    readId(envelope.context_team_id, TEAM) ??
    readId(envelope.team_id, TEAM)
  )
}

export const routeSlackPost = (post: InboundPost): Routed => {
  const envelope = parseObject(post.body)
  if (!envelope)
    return isCertificateCheck(post)
      ? { kind: 'handshake', status: 200, contentType: 'text/plain', body: '' }
      : { kind: 'unknown' }
  if (envelope.type === 'url_verification') {
    const challenge = storableText(envelope.challenge, slackLimits.challengeLength)
    if (challenge === undefined) return { kind: 'unknown' }
    return {
      kind: 'handshake',
      status: 200,
      contentType: 'application/json',
      body: JSON.stringify({ challenge }),
    }
  }
  const team = teamOf(envelope)
  const app = readId(envelope.api_app_id, APP)
  return team === undefined
    ? { kind: 'unknown' }
    : { kind: 'keys', keys: [...(app ? [`${team}:${app}`] : []), team] }
}

const attachmentOf = (file: JsonObject): Attachment => {
  const id = readId(file.id, /^F[A-Z0-9]{1,30}$/)
  // Files of other services, deleted ones, and those beyond the limit of a free workspace.
  const isElsewhere =
    file.is_external === true ||
    ['external', 'tombstone', 'hidden_by_limit'].includes(String(file.mode))
  const url =
    storableText(file.url_private_download, 2_048) ?? storableText(file.url_private, 2_048)
  return {
    name:
      storableText(file.name, slackLimits.nameLength) ??
      storableText(file.title, slackLimits.nameLength) ??
      'file',
    mimeType: storableText(file.mimetype, 127) ?? 'application/octet-stream',
    byteSize: readSize(file.size),
    ref: id && !isElsewhere ? { id, ...(url ? { url } : {}) } : null,
  }
}

/** Messages of others that a person passes on. */
const forwardedIn = (event: JsonObject): Attachment[] =>
  objectsIn(event.attachments, slackLimits.files)
    .filter(({ is_share }) => is_share === true)
    .map(({ author_name, text }) => {
      const author = storableText(author_name, slackLimits.nameLength)
      const said = plainTextOf(storableText(text, slackLimits.textLength) ?? '', undefined)
      return passedOn(author === undefined || said === '' ? said : `${author} wrote:\n\n${said}`)
    })

/**
 * User ids are unique only within a workspace. People of another workspace, in a shared channel,
 * have its id added.
 */
const senderIdOf = (
  event: JsonObject,
  user: string,
  team: string,
): { id: string; isOurs: boolean } => {
  const theirs = readId(event.user_team ?? event.source_team ?? event.team, TEAM)
  return theirs === undefined || theirs === team
    ? { id: user, isOurs: true }
    : { id: `${user}@${theirs}`, isOurs: false }
}

const senderName = (event: JsonObject): string | null => {
  const profile = asObject(event.user_profile)
  return (
    storableText(profile.real_name, slackLimits.nameLength) ??
    storableText(profile.display_name, slackLimits.nameLength) ??
    null
  )
}

/** Whether a person addressed us, either in a direct message or by our name. */
const isForUs = (event: JsonObject, ownUser: string | undefined): boolean => {
  if (
    event.bot_id !== undefined ||
    event.bot_profile !== undefined ||
    event.hidden === true ||
    event.edited !== undefined
  )
    return false
  if (event.user === ownUser || event.user === SLACKBOT) return false
  if (event.type === 'app_mention')
    return event.subtype === undefined || event.subtype === 'file_share'
  return (
    event.type === 'message' &&
    event.channel_type === 'im' &&
    SPOKEN.includes(event.subtype as string | undefined)
  )
}

interface Place {
  channel: string
  ts: string
  /** The message that the thread belongs to. */
  root: string | undefined
}

const placeOf = (event: JsonObject): Place | undefined => {
  const channel = readId(event.channel, CONVERSATION)
  const ts = readId(event.ts, TIMESTAMP)
  if (channel === undefined || ts === undefined) return undefined
  const root = readId(event.thread_ts, TIMESTAMP)
  return { channel, ts, root: event.type === 'app_mention' ? (root ?? ts) : root }
}

/** The first installation is the one that the post is for. */
const ownUserOf = (envelope: JsonObject, { config }: OpenConnection): string | undefined => {
  const [installation] = objectsIn(envelope.authorizations, 1)
  return (
    readId(config.botUserId, USER) ??
    (installation?.is_bot === true ? readId(installation.user_id, USER) : undefined)
  )
}

export const readSlackPost = (post: InboundPost, connection: OpenConnection): InboundMessages => {
  const envelope = parseObject(post.body)
  if (envelope?.type !== 'event_callback') return []
  const event = asObject(envelope.event)
  const ownUser = ownUserOf(envelope, connection)
  const place = placeOf(event)
  const user = readId(event.user, USER)
  const team = connection.routingKey.split(':')[0]!
  if (!place || user === undefined || teamOf(envelope) !== team || !isForUs(event, ownUser))
    return []
  const { channel, ts, root } = place
  const sender = senderIdOf(event, user, team)
  const message: InboundMessage = {
    // A message keeps its time in its channel, whichever event reports it.
    eventIds: [...[readId(envelope.event_id, EVENT)].flatMap((id) => id ?? []), `${channel}:${ts}`],
    sender: { id: sender.id, name: senderName(event) },
    thread: root === undefined ? channel : `${channel}:${root}`,
    // In a direct message, nobody else reads along.
    isShared: event.type === 'app_mention',
    subject: null,
    text: plainTextOf(storableText(event.text, slackLimits.textLength) ?? '', ownUser),
    attachments: [
      ...objectsIn(event.files, slackLimits.files).map(attachmentOf),
      ...forwardedIn(event),
    ],
    replyTo: { channel, ...(root === undefined ? {} : { thread: root }) },
    directTo: sender.isOurs ? { channel: user } : null,
    toFetch: null,
  }
  return message.text === '' && message.attachments.length === 0 ? [] : [message]
}
