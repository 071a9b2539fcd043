/**
 * Which addresses tenants may have us call, as far as the URL tells. The lookup checks what a name
 * resolves to.
 */
import { isIP } from 'node:net'
import { isPublicAddress } from './address.ts'

/** No connection was opened. The message tells the person who chose the address why not. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused'
}

export interface EgressRules {
  /** `host:port` pairs exempt from all rules, including https. */
  allow: ReadonlySet<string>
  /** `host:port` pairs of this deployment. */
  own: ReadonlySet<string>
}

export interface EgressTarget {
  url: URL
  /** IPv6 addresses have no brackets. */
  hostname: string
  port: number
  /** Exempt from all rules: any address that the name resolves to may be called. */
  exempt: boolean
}

const LONGEST_URL = 2_048
/** Characters that nobody uses on purpose and that parsers treat differently. */
const UNCLEAR = /[\s\\\p{Cc}]/u
/** Names that mean something different on each machine or network. */
const LOCAL_NAME =
  /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|test|invalid|onion)$|\.home\.arpa$/
const PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 }
const LOWEST_FREE_PORT = 1_024
/** Ports of databases, queues and machine control, which may be open to neighbours. */
const CLOSED_PORTS = new Set([
  ...[
    1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5433, 5672, 5900, 5984,
    5985, 5986, 6000, 6379, 6443,
  ],
  ...[
    6667, 7000, 7199, 8086, 9042, 9092, 9160, 9200, 9300, 10250, 10255, 10256, 11211, 15672, 26379,
    27017, 27018, 27019, 50000,
  ],
])

const refuse = (reason: string): never => {
  throw new EgressRefused(reason)
}

const parseUrl = (text: string): URL => {
  if (text.length > LONGEST_URL) refuse(`the URL has more than ${LONGEST_URL} characters`)
  if (UNCLEAR.test(text)) refuse('the URL has spaces, backslashes or control characters')
  return URL.parse(text) ?? refuse('the URL is not valid')
}

const requireHost = (hostname: string): void => {
  if (isIP(hostname)) {
    if (!isPublicAddress(hostname)) refuse('the address is not public')
    return
  }
  const name = hostname.replace(/\.$/, '')
  if (!name.includes('.') || LOCAL_NAME.test(name)) refuse('the host name is not public')
}

const requirePort = (port: number): void => {
  if ((port < LOWEST_FREE_PORT && port !== PORTS['https:']) || CLOSED_PORTS.has(port))
    refuse(`port ${port} is not allowed for https`)
}

/** Throws `EgressRefused` if the URL must not be called. */
export const targetOf = (text: string, { allow, own }: EgressRules): EgressTarget => {
  const url = parseUrl(text)
  const defaultPort = PORTS[url.protocol] ?? refuse('the URL must begin with https://')
  if (url.username || url.password) refuse('the URL must not include a user name or password')
  const port = url.port === '' ? defaultPort : Number(url.port)
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const pair = `${url.hostname}:${port}`
  if (allow.has(pair)) return { url, hostname, port, exempt: true }
  if (url.protocol !== 'https:') refuse('the URL must begin with https://')
  if (own.has(`${url.hostname.replace(/\.$/, '')}:${port}`)) refuse("the URL is this service's own")
  requireHost(hostname)
  requirePort(port)
  return { url, hostname, port, exempt: false }
}
