/** `tendril connections add`: connects an account of a network, step by step. */
import { operations } from '#contract/index'
import { askOf, call, idempotencyKeyFor } from './call.ts'
import { Failure, misuse } from './failure.ts'
import type { Host, InputLines } from './host.ts'
import type { AddedNetwork } from './names.ts'
import { printAnswer } from './print.ts'
import { findTarget, tokenFor } from './target.ts'
import { oneLine } from './text.ts'
import { openTransport } from './transport.ts'

type Options = Readonly<Record<string, unknown>>

interface Connected {
  connection: {
    account: { id: string; network: string; handle: string; is_default: boolean }
    limits: { max_length: number; counting: string }
  }
  unfit_drafts?: { item_id: string; message: string }[]
}

/** What the server makes an account of, from options and from what is typed. */
interface AccountKind {
  operation: string
  /** Begins a sign-in on a page of the network. */
  authorize: string
  steps: readonly string[]
  /** What it can do from then on. */
  can: string
}

const kinds: Record<AddedNetwork, AccountKind> = {
  bluesky: {
    operation: 'app.connections.connectBluesky',
    authorize: 'app.connections.authorizeBluesky',
    can: 'Tendril can post, reply, quote, repost and like as this account, each time after a person has approved it.',
    steps: [
      'Open https://bsky.app/settings/app-passwords and add an app password for Tendril.',
      'Type or paste it below. Never use the password of the account itself.',
    ],
  },
}

/** At the terminal without an echo; from a pipe, its next line. */
const secretLine = async (prompt: string, lines: InputLines, host: Host): Promise<string> => {
  const line = lines.isTerminal ? await host.askSecret(prompt) : await lines.next(prompt)
  return line?.trim() || misuse('the app password is missing', 'type it, or pipe it in')
}

const MOST_SHOWN = 10

/** Drafts that the account cannot take, a line each. */
const unfitWords = (drafts: NonNullable<Connected['unfit_drafts']>): string => {
  if (drafts.length === 0) return ''
  const lines = drafts
    .slice(0, MOST_SHOWN)
    .map(({ item_id, message }) => `\n  ${item_id} ${oneLine(message)}`)
  const more = drafts.length > MOST_SHOWN ? `\n  and ${drafts.length - MOST_SHOWN} more` : ''
  return `\nDrafts that do not fit this account:${lines.join('')}${more}`
}

const connectedWords = (
  network: string,
  { id, handle, is_default }: { id: string; handle: string; is_default: boolean },
): string => {
  const next = is_default
    ? 'New approvals use it from now on.'
    : `Another account is the default; to use this one: tendril connections set-default ${id}`
  return `Connected @${oneLine(handle)} on ${network}. ${next}`
}

const wordsOf = ({ connection: { account, limits }, unfit_drafts = [] }: Connected): string =>
  `${connectedWords(account.network, account)}
Posts there have at most ${limits.max_length} characters (${limits.counting}).${unfitWords(unfit_drafts)}`

interface Session {
  /** Runs an operation as the person who is signed in. */
  run(id: string, input: Readonly<Record<string, unknown>>): Promise<unknown>
  [Symbol.dispose](): void
}

const openSession = async (needed: string, options: Options, host: Host): Promise<Session> => {
  const target = await findTarget(options, host)
  const token = tokenFor(operationOf(needed), target, {})
  const transport = await openTransport(target.url, host.signal)
  return {
    async run(id, input) {
      const o = operationOf(id)
      const idempotencyKey = await idempotencyKeyFor(o)
      const given = JSON.parse(JSON.stringify(input))
      return (await call(transport, askOf(o, given, { token, idempotencyKey }), host)).body
    },
    [Symbol.dispose]: () => transport.close(),
  }
}

const operationOf = (id: string) => operations.find((o) => o.id === id)!

const connectByHand = async (
  { operation, steps }: AccountKind,
  options: Options,
  host: Host,
): Promise<number> => {
  using session = await openSession(operation, options, host)
  for (const [index, step] of steps.entries()) host.stderr.write(`${index + 1}. ${step}\n`)
  using lines = await host.lines()
  const handle = options.handle ?? (await lines.next('Handle: '))?.trim()
  if (!handle) misuse('the handle is missing', 'type it, or give it with --handle')
  const app_password = await secretLine('App password: ', lines, host)
  const { service, keep, default: isDefault } = options
  const input = { handle, app_password, service, keep: keep !== false, default: isDefault }
  const connected = (await session.run(operation, input)) as Connected
  printAnswer(host, { account: connected.connection.account }, options.json === true)
  host.stderr.write(`${wordsOf(connected)}\n`)
  return 0
}

interface Authorization {
  id: string
  url: string
  network: string
  status: 'pending' | 'connected' | 'refused' | 'expired'
  reason: string | null
  account: { id: string; handle: string; is_default: boolean } | null
}

const READ = 'app.connections.authorization'
const POLL_MS = 2_000
const LONGEST_WAIT_MS = 660_000
const AGAIN = 'run the command again'

const readOnce = async (session: Session, id: string): Promise<Authorization> =>
  ((await session.run(READ, { id })) as { authorization: Authorization }).authorization

/** Waits for the person in the browser. The server ends it after ten minutes. */
const waitFor = async (session: Session, id: string, host: Host): Promise<Authorization> => {
  const until = host.now() + LONGEST_WAIT_MS
  for (;;) {
    await host.pause(POLL_MS)
    const now = await readOnce(session, id)
    if (now.status !== 'pending') return now
    if (host.now() >= until) throw new Failure('unavailable', 'the sign-in did not end in time')
  }
}

const failureOf = ({ status, reason }: Authorization): Failure =>
  status === 'expired'
    ? new Failure('unauthenticated', 'nobody granted access within ten minutes', { hint: AGAIN })
    : new Failure('conflict', oneLine(reason ?? 'nothing was connected'))

const connectByOauth = async (
  { authorize, can }: AccountKind,
  options: Options,
  host: Host,
): Promise<number> => {
  using session = await openSession(authorize, options, host)
  const { handle, service, default: isDefault } = options
  const begun = (await session.run(authorize, { handle, service, default: isDefault })) as {
    authorization: Authorization
  }
  const { id, url } = begun.authorization
  host.stderr.write(`\nTo grant access to the account, open\n\n    ${oneLine(url)}\n\n`)
  const isAtTerminal = host.stderr.columns !== undefined
  if (isAtTerminal && options.browser !== false && /^https?:/.test(url)) host.open(url)
  host.stderr.write('Waiting for you in the browser. Press ^C to cancel.\n')
  const ended = await waitFor(session, id, host)
  if (!ended.account) throw failureOf(ended)
  printAnswer(host, { account: ended.account }, options.json === true)
  host.stderr.write(`${connectedWords(ended.network, ended.account)}\n${can}\n`)
  return 0
}

export const addAccount = (network: AddedNetwork, options: Options, host: Host): Promise<number> =>
  (options.oauth === true ? connectByOauth : connectByHand)(kinds[network], options, host)
