/**
 * The configuration of an MCP server: whether it is valid, and whether the server can be called.
 */
import { refuseField } from '#kernel/errors'
import { isHeaderName, isHeaderOfMessage } from '#kernel/header-names'

export type McpTransport = 'streamable_http' | 'stdio'

/** The values of headers or environment variables, by name. */
export type Secrets = Record<string, string>

/** What a person or a program configures. */
export interface McpServerConfig {
  name: string
  transport?: McpTransport | undefined
  url?: string | undefined
  command?: string | undefined
  args?: string[] | undefined
  headers?: Secrets | undefined
  env?: Secrets | undefined
  toolPrefix?: string | undefined
  enabled?: boolean | undefined
  metadata?: Record<string, unknown> | undefined
}

/** A program that the operator allows workspaces to run. */
export interface StdioProgram {
  command: string
  args: readonly string[]
  /** Names of variables that workspaces may set. */
  env: readonly string[]
}

export interface ConfigRules {
  programs: readonly StdioProgram[]
  /** Why the server cannot be called; undefined if it can. */
  refuse(place: Place): string | undefined
}

/** Headers that the protocol sets itself, and those of a proxy on the way. */
const OWN_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
  'proxy-authorization',
  'proxy-connection',
])
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/
const MOST_VALUES = 30
const LONGEST_VALUE = 8_192

/** Throws `invalid_input`; the message never contains a value. */
const requireValues = (
  path: string,
  values: Secrets,
  isValue: (name: string, value: string) => string | undefined,
): void => {
  const all = Object.entries(values)
  if (all.length > MOST_VALUES) refuseField(path, `has more than ${MOST_VALUES} entries`)
  for (const [name, value] of all) {
    const flaw =
      value.length > LONGEST_VALUE
        ? `has a value of more than ${LONGEST_VALUE} characters`
        : isValue(name, value)
    if (flaw !== undefined) refuseField(path, `${flaw}: ${name.slice(0, 100)}`)
  }
}

const flawOfHeader = (name: string, value: string): string | undefined => {
  if (!isHeaderName(name)) return 'has a name that is no name of a header'
  if (isHeaderOfMessage(name) || OWN_HEADERS.has(name.toLowerCase()))
    return 'has a header that the protocol sets itself'
  return HEADER_VALUE.test(value) ? undefined : 'has a value that no header can have'
}

/** Environment variables are passed to a program one per line. */
const UNSENDABLE = /[\0\r\n]/

const flawOfVariable = (name: string, value: string): string | undefined => {
  if (!VARIABLE_NAME.test(name)) return 'has a name that is not valid for a variable'
  return UNSENDABLE.test(value) ? 'has a value of more than one line' : undefined
}

/** Throws `invalid_input`: a user name or password in the URL would be shown and logged. */
const requirePlainUrl = (text: string): void => {
  const url = URL.parse(text)
  if (url && (url.username !== '' || url.password !== ''))
    refuseField('url', 'must not include a user name or password; use headers')
}

const MOST_METADATA = 8_192

/** Checks what does not depend on what the operator allows. Throws `invalid_input`. */
export const requireSound = ({
  url,
  headers = {},
  env = {},
  metadata = {},
}: Partial<McpServerConfig>): void => {
  if (url !== undefined) requirePlainUrl(url)
  requireValues('headers', headers, flawOfHeader)
  requireValues('env', env, flawOfVariable)
  if (JSON.stringify(metadata).length > MOST_METADATA)
    refuseField('metadata', `has more than ${MOST_METADATA} characters as JSON`)
}

const isEqual = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, index) => one === b[index])

/** Where a server is. */
export interface Place {
  transport: McpTransport | null
  url: string | null
  command: string | null
  args: string[]
  env_names: string[]
}

/** Throws `invalid_input` for variables that workspaces may not set for an allowed command. */
const requireVariables = ({ command, args, env_names }: Place, { programs }: ConfigRules): void => {
  const allowed = programs.filter((one) => one.command === command && isEqual(one.args, args))
  if (
    allowed.length === 0 ||
    allowed.some(({ env }) => env_names.every((name) => env.includes(name)))
  )
    return
  const unknown = env_names.find((name) => !allowed.some(({ env }) => env.includes(name)))
  refuseField(
    'env',
    `has a variable that the operator does not allow for this command: ${unknown ?? env_names.join(', ')}`,
  )
}

/**
 * Why the server cannot be called with this configuration; null if it can. Throws `invalid_input`.
 */
export const refusalOfPlace = (place: Place, rules: ConfigRules): string | null => {
  if (place.transport === null) return 'neither a url nor a command is set'
  if (place.transport === 'stdio' && place.command === null) return 'no command is set'
  if (place.transport === 'streamable_http' && place.url === null) return 'no url is set'
  requireVariables(place, rules)
  return rules.refuse(place) ?? null
}

export const transportOf = ({
  transport,
  url,
  command,
}: Partial<McpServerConfig>): McpTransport | null => {
  if (transport) return transport
  if (url !== undefined) return 'streamable_http'
  return command === undefined ? null : 'stdio'
}

type PlaceConfig = Pick<McpServerConfig, 'url' | 'command' | 'args' | 'headers' | 'env'>

/** Keeps what belongs to the transport, and drops what is for the other one. */
export const transportFields = (
  transport: McpTransport | null,
  { url, command, args = [], headers = {}, env = {} }: PlaceConfig,
) =>
  transport === 'stdio'
    ? { transport, url: null, command: command ?? null, args, headers: {}, env }
    : { transport, url: url ?? null, command: null, args: [], headers, env: {} }
