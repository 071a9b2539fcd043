/**
 * `tendril agent channels connect`: tells what to do at a provider, takes what the provider gave,
 * and checks whether the provider accepts it.
 */
import { FAILED_EXIT, misuse } from '../failure.ts'
import type { Host, InputLines } from '../host.ts'
import { printAnswer } from '../print.ts'
import { oneLine } from '../text.ts'
import { type AgentContext, openAgent } from './context.ts'

type Options = Record<string, unknown>

interface Setup {
  webhookUrl: string
  steps: string[]
  paste: { label: string; text: string }[]
}

interface Adapter {
  channel: string
  credentials: { name: string; needed: boolean; description: string }[]
  setup: Setup
}

interface Connection {
  id: string
  status: 'unverified' | 'active' | 'failing'
  lastError: string | null
}

interface Connected {
  connection: Connection
  setup: Setup
}

const POLL_MS = 1_000
const USUAL_WAIT_S = 60

const printSetup = ({ stderr }: Host, { webhookUrl, steps, paste }: Setup): void => {
  stderr.write(`Address for its posts: ${webhookUrl}\n\n`)
  for (const [index, step] of steps.entries()) stderr.write(`${index + 1}. ${step}\n`)
  for (const { label, text } of paste) stderr.write(`\n${label}:\n${text}\n`)
  stderr.write('\n')
}

/** `name=value`, as given in options. A value `@file` is read from the file. */
const pairsOf = async (
  option: string,
  words: unknown,
  host: Host,
): Promise<Record<string, string>> => {
  const pairs: Record<string, string> = {}
  for (const word of (words as string[] | undefined) ?? []) {
    const at = word.indexOf('=')
    if (at < 1) misuse(`--${option} must be name=value`)
    const value = word.slice(at + 1)
    pairs[word.slice(0, at)] = value.startsWith('@')
      ? (await host.readFile(value.slice(1))).trim()
      : value
  }
  return pairs
}

/** Asks at the terminal, or reads a line of a pipe. Throws at the end of input. */
const promptFor = async (
  { name, isSecret }: { name: string; isSecret: boolean },
  lines: InputLines,
  host: Host,
): Promise<string> => {
  const prompt = `${name}: `
  const hidden = isSecret && lines.isTerminal ? await host.askSecret(prompt) : undefined
  const line = hidden ?? (isSecret && lines.isTerminal ? undefined : await lines.next(prompt))
  return line?.trim() ?? misuse(`${name} is missing`, 'type it, or give it with an option: --help')
}

const credentialsOf = async (
  adapter: Adapter,
  options: Options,
  { lines, host }: { lines: InputLines; host: Host },
) => {
  const given = await pairsOf('credential', options.credential, host)
  const missing = adapter.credentials.filter(({ name }) => !Object.hasOwn(given, name))
  const needed =
    missing.some(({ needed }) => needed) || Object.keys(given).length === 0 ? missing : []
  for (const { name, needed: isNeeded, description } of needed) {
    host.stderr.write(
      `${name}: ${description}${isNeeded ? '' : ' (if you have none, leave it empty)'}\n`,
    )
    const value = await promptFor({ name, isSecret: true }, lines, host)
    if (value !== '') given[name] = value
  }
  return given
}

/** Waits until the provider has said something. */
const waitForProvider = async (
  { ask, host }: AgentContext,
  made: Connection,
  waitMs: number,
): Promise<Connection> => {
  const until = host.now() + waitMs
  let connection = made
  while (
    connection.status === 'unverified' &&
    connection.lastError === null &&
    host.now() < until
  ) {
    await host.pause(POLL_MS)
    connection = (await ask<Connected>('agent.channels.get', { id: made.id })).connection
  }
  return connection
}

const waitOf = ({ wait = String(USUAL_WAIT_S) }: Options): number => {
  const seconds = Number(wait)
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > 3_600)
    misuse('--wait must be a number of seconds from 0 to 3600')
  return seconds * 1_000
}

const wordsOf = ({ status, lastError, id }: Connection): string => {
  if (status === 'active') return 'Active: people can write now.'
  const why = lastError === null ? 'its provider has not answered yet' : oneLine(lastError)
  return `Not active: ${why}.\nMend it, and run tendril agent channels update ${id}, or tendril agent channels check ${id}.`
}

/** Returns exit code 0 once the channel is active, and 10 if its provider has not agreed. */
export const connectChannel = async (
  channel: string,
  options: Options,
  host: Host,
): Promise<number> => {
  const waitMs = waitOf(options)
  using context = await openAgent(options, host)
  const { adapters } = await context.ask<{ adapters: Adapter[] }>('agent.channels.list', {
    limit: 1,
  })
  const adapter =
    adapters.find((one) => one.channel === channel) ??
    misuse(`the server knows no channel ${channel}`)
  printSetup(host, adapter.setup)
  using lines = await host.lines()
  const { displayName, senderPolicy } = options
  const routingKey =
    options.routingKey ?? (await promptFor({ name: 'routingKey', isSecret: false }, lines, host))
  const credentials = await credentialsOf(adapter, options, { lines, host })
  const config = await pairsOf('config', options.config, host)
  const input = { channel, routingKey, displayName, senderPolicy, config, credentials }
  const { connection: made } = await context.ask<Connected>(
    'agent.channels.create',
    JSON.parse(JSON.stringify(input)),
  )
  const connection = await waitForProvider(context, made, waitMs)
  printAnswer(host, { connection }, options.json === true)
  host.stderr.write(`${wordsOf(connection)}\n`)
  return connection.status === 'active' ? 0 : FAILED_EXIT
}
