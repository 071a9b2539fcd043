/** Which addresses a job reads without asking a person. Pure. */

import { isChannelTaint } from '../channel/trust.ts'
import type { RuleDecision } from './verdict.ts'

/** Public references that anybody can read. `*.` stands for one or more labels. */
const usualHosts: readonly string[] = [
  '*.wikipedia.org',
  'docs.x.com',
  'docs.bsky.app',
  'www.rfc-editor.org',
]

/**
 * The most characters of path and query together: a longer address could carry out what the job has
 * read.
 */
const LONGEST_TAINTED = 200
/** How many addresses a job reads unasked after it has read untrusted text. */
const MOST_UNASKED = 5

/** Hosts that people of a workspace can allow. */
export const MOST_HOSTS = 100

/** The name of the rule that lets a host be read: `fetch_url:example.com`. */
export const HOST_RULE = 'fetch_url:'

/** The host, with its port unless that is the default. Undefined if the text is no address. */
export const hostOf = (url: string): string | undefined =>
  URL.parse(url)?.host.toLowerCase() || undefined

export const hostRuleOf = (url: string): string => `${HOST_RULE}${hostOf(url)}`

/** Hosts that people have allowed, according to the workspace's rules. */
export const allowedHosts = (rules: ReadonlyMap<string, RuleDecision>): string[] =>
  [...rules].flatMap(([name, decision]) =>
    decision === 'allow' && name.startsWith(HOST_RULE) ? name.slice(HOST_RULE.length) : [],
  )

/** `listed`: `docs.example.com`, or `*.example.com` for all names below it. */
const covers = (listed: string, host: string): boolean =>
  listed.startsWith('*.') ? host.endsWith(listed.slice(1)) : host === listed

export interface FetchFacts {
  url: string
  /** Hosts that the operator and the workspace's people have added. */
  hosts: readonly string[]
  taint: readonly string[]
  /** Whether a message in a channel began the job, so that nobody watches it work. */
  inChannel?: boolean
  /** How many addresses the job has read unasked. */
  unasked: number
}

/** Why a person must be asked before anything is sent; empty if nobody is. */
export const fetchAsks = ({
  url,
  hosts,
  taint,
  inChannel = false,
  unasked,
}: FetchFacts): string[] => {
  const target = URL.parse(url)
  const host = hostOf(url)
  if (
    !target ||
    host === undefined ||
    ![...usualHosts, ...hosts].some((listed) => covers(listed, host))
  )
    return [`${host ?? 'the address'} is not on the list of hosts that are read unasked`]
  if (taint.length === 0) return []
  if (taint.some(isChannelTaint))
    return ['a message that anybody could have written has begun the job']
  if (inChannel) return ['a job from a channel has read untrusted text']
  return [
    ...(target.pathname.length + target.search.length > LONGEST_TAINTED
      ? [`the address has more than ${LONGEST_TAINTED} characters`]
      : []),
    ...(unasked >= MOST_UNASKED ? [`${MOST_UNASKED} addresses were read unasked already`] : []),
  ]
}
