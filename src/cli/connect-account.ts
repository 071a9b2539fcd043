/** `tendril connections add`: connects an account of a network, step by step. */
import { operations } from '#contract/index'
import { askOf, call, idempotencyKeyFor } from './call.ts'
import { misuse } from './failure.ts'
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
  steps: readonly string[]
}

const kinds: Record<AddedNetwork, AccountKind> = {
  bluesky: {
    operation: 'app.connections.connectBluesky',
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

const wordsOf = ({ connection: { account, limits }, unfit_drafts = [] }: Connected): string => {
  const posts = account.is_default
    ? 'New approvals use it from now on.'
    : `Another account is the default; to use this one: tendril connections set-default ${account.id}`
  return `Connected @${oneLine(account.handle)} on ${account.network}. ${posts}
Posts there have at most ${limits.max_length} characters (${limits.counting}).${unfitWords(unfit_drafts)}`
}

export const connectByHand = async (
  network: AddedNetwork,
  options: Options,
  host: Host,
): Promise<number> => {
  const { operation, steps } = kinds[network]
  const o = operations.find(({ id }) => id === operation)!
  const target = await findTarget(options, host)
  const token = tokenFor(o, target, {})
  for (const [index, step] of steps.entries()) host.stderr.write(`${index + 1}. ${step}\n`)
  using lines = await host.lines()
  const handle = options.handle ?? (await lines.next('Handle: '))?.trim()
  if (!handle) misuse('the handle is missing', 'type it, or give it with --handle')
  const app_password = await secretLine('App password: ', lines, host)
  const { service, keep, default: isDefault } = options
  const input = { handle, app_password, service, keep: keep !== false, default: isDefault }
  const transport = await openTransport(target.url, host.signal)
  try {
    const idempotencyKey = await idempotencyKeyFor(o)
    const given = JSON.parse(JSON.stringify(input))
    const { body } = await call(transport, askOf(o, given, { token, idempotencyKey }), host)
    const connected = body as unknown as Connected
    printAnswer(host, { account: connected.connection.account }, options.json === true)
    host.stderr.write(`${wordsOf(connected)}\n`)
    return 0
  } finally {
    transport.close()
  }
}
