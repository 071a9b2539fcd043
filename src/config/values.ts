/**
 * Parsers for environment variables. Each throws an error with the variable's name and the accepted
 * values.
 */
import { isIP } from 'node:net'
import { isApiKey } from '#kernel/api-key'
import { AppError } from '#kernel/errors'
import { logLevels } from '#kernel/log'
import { parseSecret } from '#kernel/secret'

/** `text`: the value, or undefined for a secret. */
export const refuseValue = (name: string, accepted: string, text?: string): never => {
  throw new AppError(
    'invalid_input',
    `${name} must be ${accepted}${text === undefined ? '' : `: ${text}`}`,
  )
}

export const choiceOf = <V extends string>(name: string, values: readonly V[], text: string): V =>
  values.find((value) => value === text) ??
  refuseValue(name, `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`, text)

export const switchOf = (name: string, text: string): boolean =>
  choiceOf(name, ['on', 'off'], text) === 'on'

export const levelOf = (text: string): string => choiceOf('LOG_LEVEL', logLevels, text)

/** A hundred years. */
const MAX_DAYS = 36_500

export const parseDays = (name: string, text: string, least = 1): number =>
  /^\d{1,5}$/.test(text) && Number(text) >= least && Number(text) <= MAX_DAYS
    ? Number(text)
    : refuseValue(name, `a number of days from ${least} to ${MAX_DAYS}`, text)

const LARGEST_PORT = 65_535

export const portOf = (text: string, name = 'PORT'): number =>
  /^\d{1,5}$/.test(text) && Number(text) <= LARGEST_PORT
    ? Number(text)
    : refuseValue(name, `a port number from 0 to ${LARGEST_PORT}`, text)

const HOST_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.?$/i

/** A host of only digits and dots is probably a mistyped IP address. */
const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (HOST_NAME.test(text) && !/^[\d.]+$/.test(text))

export const parseHost = (text: string, name = 'HOST'): string =>
  isHost(text)
    ? text
    : refuseValue(
        name,
        'an IP address or host name of this machine, without http:// and without a port',
        text,
      )

/** Puts an IPv6 address in brackets: `[::1]:7070`. */
export const hostAndPort = (host: string, port: number): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

/** Without a trailing slash. */
export const parseAddress = (name: string, text: string): string => {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol))
    return refuseValue(name, 'an http or https address', text)
  if (url.username || url.password || url.search || url.hash)
    return refuseValue(name, 'an address without a user name, password, query or fragment')
  return text.replace(/\/+$/, '')
}

const MOST_PROXIES = 100

const isNetwork = (text: string): boolean => {
  const [address = '', bits = '', ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return (
    !text.includes('/') || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
  )
}

/** Addresses and networks separated by commas. */
export const proxiesOf = (text: string): string[] => {
  const named = text.split(',').map((one) => one.trim())
  const some = named.filter((one) => one !== '')
  const wrong = some.find((one) => !isNetwork(one))
  if (wrong === undefined && some.length <= MOST_PROXIES) return some
  const accepted = `addresses or networks of at most ${MOST_PROXIES} proxies, such as 10.0.0.7 or 10.0.0.0/8, separated by commas`
  return refuseValue('TRUSTED_PROXIES', accepted, wrong)
}

/** `docs.example.com`, `*.example.com` or `docs.example.com:8443`. */
const LISTED_HOST =
  /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+(:\d{1,5})?$/

const MOST_HOSTS = 100

/** Hosts separated by commas, in lower case. */
export const hostsOf = (text: string): string[] => {
  const hosts = text.split(',').map((host) => host.trim().toLowerCase())
  const some = [...new Set(hosts.filter((host) => host !== ''))]
  if (some.length > MOST_HOSTS) refuseValue('FETCH_ALLOW', `at most ${MOST_HOSTS} hosts`)
  const wrong = some.find((host) => !LISTED_HOST.test(host))
  return wrong === undefined
    ? some
    : refuseValue(
        'FETCH_ALLOW',
        'host names such as docs.example.com or *.example.com, separated by commas',
        wrong,
      )
}

/** One host and one port, never a range. */
const PAIR = /^([^\s:/@]+|\[[0-9a-f:.]+\]):(\d{1,5})$/

const isPair = (text: string): boolean => Number(PAIR.exec(text)?.[2] ?? Number.NaN) <= LARGEST_PORT

export const pairsOf = (text: string): string[] => {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  const wrong = pairs.find((pair) => !isPair(pair))
  if (wrong !== undefined)
    throw new AppError(
      'invalid_input',
      `EGRESS_ALLOW takes host:port, separated by commas, not ${wrong}`,
    )
  return pairs
}

export const secretOf = (text: string, variable = 'TENDRIL_SECRET_KEY'): string =>
  parseSecret(text)
    ? text
    : refuseValue(variable, '32 bytes in base64; make them with `openssl rand -base64 32`')

export const bootstrapKeyOf = (text: string): string =>
  isApiKey(text)
    ? text
    : refuseValue(
        'TENDRIL_BOOTSTRAP_KEY',
        'an API key: ak_, 30 base62 characters and 6 of checksum',
      )

export const commitOf = (text: string): string =>
  /^[\w.+-]{1,64}$/.test(text)
    ? text
    : refuseValue(
        'TENDRIL_COMMIT',
        'a commit or version of up to 64 letters, digits and . _ + -',
        text,
      )

export const failpointsOf = (text: string): string =>
  text === '' || text.split(',').every((part) => /^\s*[\w.:-]+=(kill|stop)\s*$/.test(part))
    ? text
    : refuseValue(
        'TENDRIL_FAILPOINTS',
        'a list of name=kill and name=stop, separated by commas',
        text,
      )

/** The key must be valid in a header. */
export const modelKeyOf = (text: string): string =>
  /^[\x21-\x7e]+$/.test(text)
    ? text
    : refuseValue('OPENAI_API_KEY', 'printable ASCII without spaces')

const MODEL_NAME = /^[\x21-\x2b\x2d-\x7e]{1,200}$/
const MOST_MODELS = 100

/** Names separated by commas, without duplicates. */
export const modelsOf = (text: string): string[] => {
  const names = text.split(',').map((name) => name.trim())
  const some = [...new Set(names.filter((name) => name !== ''))]
  if (some.length > MOST_MODELS) refuseValue('MODEL_ALLOW', `at most ${MOST_MODELS} names`)
  const wrong = some.find((name) => !MODEL_NAME.test(name))
  return wrong === undefined
    ? some
    : refuseValue('MODEL_ALLOW', 'names of models, separated by commas', wrong)
}

/** The minimum leaves room for the rules, the tools and an answer. */
const [LEAST_CONTEXT, LARGEST_CONTEXT] = [8_000, 10_000_000]

export const parseContextSize = (text: string): number =>
  /^\d{4,8}$/.test(text) && Number(text) >= LEAST_CONTEXT && Number(text) <= LARGEST_CONTEXT
    ? Number(text)
    : refuseValue(
        'MODEL_CONTEXT',
        `a number of tokens from ${LEAST_CONTEXT} to ${LARGEST_CONTEXT}`,
        text,
      )

/** Dollars per million tokens. */
export interface ModelPrice {
  input: number
  output: number
  cached?: number
}

const HIGHEST_PRICE = 10_000

const isPrice = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { input, output, cached, ...more } = value as Record<string, unknown>
  const isAmount = (amount: unknown) =>
    typeof amount === 'number' && amount >= 0 && amount <= HIGHEST_PRICE
  return (
    isAmount(input) &&
    isAmount(output) &&
    (cached === undefined || isAmount(cached)) &&
    Object.keys(more).length === 0
  )
}

const PRICES_FORM =
  'JSON such as {"model":{"input":1.25,"output":10,"cached":0.125}}, in dollars per million tokens'

export const pricesOf = (text: string): Record<string, ModelPrice> => {
  let prices: unknown
  try {
    prices = JSON.parse(text)
  } catch {
    return refuseValue('PRICES', PRICES_FORM, text)
  }
  if (typeof prices !== 'object' || prices === null || Array.isArray(prices))
    return refuseValue('PRICES', PRICES_FORM, text)
  const wrong = Object.entries(prices).find(
    ([name, price]) => !MODEL_NAME.test(name) || !isPrice(price),
  )
  if (wrong) refuseValue('PRICES', PRICES_FORM, `${wrong[0]} has ${JSON.stringify(wrong[1])}`)
  if (Object.keys(prices).length > MOST_MODELS)
    refuseValue('PRICES', `prices of at most ${MOST_MODELS} models`)
  return prices as Record<string, ModelPrice>
}
