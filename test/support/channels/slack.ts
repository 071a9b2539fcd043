/**
 * Plays Slack on loopback, according to its documentation: the Web API's methods, and private
 * files.
 */
import { openReceiver, type Received, type ReceiverAnswer } from '../http/receiver.ts'
import { install, type SlackInstall } from './slack-posts.ts'

export interface SlackMessage {
  channel: string
  text: string
  thread_ts?: string
  ts: string
  /** The app that posted it. */
  by: string
}

export interface FakeSlack extends AsyncDisposable {
  /** For CHANNEL_URLS. */
  urls: { slack: string; slack_files: string }
  /** What the app posted, oldest first. */
  messages: SlackMessage[]
  requests: Received[]
  installs: SlackInstall[]
  /** Bytes by the path under /files-pri/. */
  files: Map<string, { body: Buffer; contentType: string }>
  /**
   * Replace the usual answers to the next requests. `taken`: the message is posted all the same.
   */
  next: (ReceiverAnswer & { taken?: boolean })[]
}

type Args = Record<string, string>

const argsOf = ({ url, headers, body }: Received): Args => {
  const query = Object.fromEntries(new URL(url, 'http://slack').searchParams)
  const isJson = String(headers['content-type'] ?? '').startsWith('application/json')
  return {
    ...query,
    ...(isJson ? JSON.parse(body || '{}') : Object.fromEntries(new URLSearchParams(body))),
  }
}

const NEEDS: Record<string, string> = {
  'chat.postMessage': 'chat:write',
  'bots.info': 'users:read',
  'files.info': 'files:read',
}

export const openSlack = async (installs: SlackInstall[] = [install]): Promise<FakeSlack> => {
  const receiver = await openReceiver()
  let clock = 1_700_000_000
  const refuse = (error: string, more = {}) => ({ ok: false, error, ...more })

  const post = (app: SlackInstall, { channel = '', text = '', thread_ts }: Args): object => {
    const isUser = /^[UW]/.test(channel)
    if (app.archived.includes(channel)) return refuse('is_archived')
    if (!isUser && !app.channels.includes(channel))
      return refuse(channel.startsWith('C') ? 'not_in_channel' : 'channel_not_found')
    if (text === '') return refuse('no_text')
    const where = isUser ? `D${channel.slice(1)}` : channel
    const message = {
      channel: where,
      text: text.slice(0, 40_000),
      ts: `${++clock}.000100`,
      ...(thread_ts ? { thread_ts } : {}),
    }
    slack.messages.push({ ...message, by: app.appId })
    const { channel: _, ...said } = message
    return {
      ok: true,
      channel: where,
      ts: message.ts,
      message: {
        type: 'message',
        user: app.botUserId,
        bot_id: app.botId,
        app_id: app.appId,
        team: app.teamId,
        ...said,
      },
    }
  }

  const methods: Record<string, (app: SlackInstall, args: Args) => object> = {
    'auth.test': ({ teamId, botUserId, botId }) => ({
      ok: true,
      url: 'https://subarachnoid.slack.com/',
      team: 'Subarachnoid Workspace',
      user: 'tendril',
      team_id: teamId,
      user_id: botUserId,
      bot_id: botId,
      is_enterprise_install: false,
    }),
    'bots.info': ({ botId, appId, botUserId }, { bot }) =>
      bot === botId
        ? {
            ok: true,
            bot: { id: botId, deleted: false, name: 'tendril', app_id: appId, user_id: botUserId },
          }
        : refuse('bot_not_found'),
    'chat.postMessage': post,
    'files.info': (_, { file }) =>
      slack.files.has(`${file}/download`)
        ? { ok: true, file: { id: file, url_private_download: addressOf(`${file}/download`) } }
        : refuse('file_not_found'),
  }

  const addressOf = (path: string) => `${slack.urls.slack_files}/files-pri/${path}`

  const tokenOf = ({ headers }: Received, args: Args): string =>
    /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1] ?? args.token ?? ''

  const authorized = (request: Received, args: Args): SlackInstall | undefined => {
    const given = tokenOf(request, args)
    return installs.find(({ token }) => token === given)
  }

  const callMethod = (request: Received, name: string): ReceiverAnswer => {
    const args = argsOf(request)
    const app = authorized(request, args)
    const json = (body: object): ReceiverAnswer => ({
      status: 200,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        ...(app ? { 'x-oauth-scopes': app.scopes.join(',') } : {}),
      },
      body: JSON.stringify(body),
    })
    const method = methods[name]
    if (!method) return json(refuse('unknown_method', { req_method: name }))
    if (!app) return json(refuse(tokenOf(request, args) !== '' ? 'invalid_auth' : 'not_authed'))
    const needed = NEEDS[name]
    if (needed && !app.scopes.includes(needed))
      return json(refuse('missing_scope', { needed, provided: app.scopes.join(',') }))
    return json(method(app, args))
  }

  const SIGN_IN = '<!DOCTYPE html><html><head><title>Sign in | Slack</title></head></html>'

  const file = (request: Received): ReceiverAnswer => {
    const app = authorized(request, {})
    // Slack answers with its sign-in page, with status 200.
    if (!app?.scopes.includes('files:read'))
      return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: SIGN_IN }
    const found = slack.files.get(request.url.replace('/files-pri/', ''))
    return found
      ? { status: 200, headers: { 'content-type': found.contentType }, body: found.body }
      : { status: 404 }
  }

  receiver.answer = (request) => {
    const usual = (): ReceiverAnswer => {
      const path = request.url.split('?')[0]!
      return path.startsWith('/api/')
        ? callMethod(request, path.slice('/api/'.length))
        : file(request)
    }
    const scripted = slack.next.shift()
    if (!scripted) return usual()
    const { taken, ...answer } = scripted
    if (taken) usual()
    return answer
  }

  const origin = `http://127.0.0.1:${receiver.port}`
  const slack: FakeSlack = {
    urls: { slack: `${origin}/api`, slack_files: origin },
    messages: [],
    requests: receiver.requests,
    installs,
    files: new Map(),
    next: [],
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
  return slack
}
