/**
 * The HTTP client for addresses that a tenant chose. It calls the public internet alone: the text of the URL is checked, and
 * so is every address that its name leads to, in the lookup of the very connection, so that a name cannot change in between.
 * Redirects are answers like any other, nothing is sent twice, and no connection or proxy is shared.
 */
import { lookup as lookupName } from 'node:dns/promises'
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isPublicAddress } from './address.ts'
import { EgressRefused, type EgressRules, type EgressTarget, targetOf } from './target.ts'

export interface EgressRequest {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body: string
  /** For everything: lookup, connection, the whole answer. */
  deadlineMs: number
  /** No more of the answer's body is read. */
  maxBytes: number
  signal?: AbortSignal
}

export interface EgressResponse {
  status: number
  /** Lower-case names. */
  headers: Record<string, string | string[] | undefined>
  body: string
  /** False: the body was longer, broke off, or did not end in time. */
  complete: boolean
}

export interface Egress {
  /** Throws `EgressRefused` when the URL's text alone forbids it. */
  check(url: string): void
  /** Throws `EgressRefused` when nothing was called, a `TimeoutError`, or the system's error when no answer came. */
  send(request: EgressRequest): Promise<EgressResponse>
}

interface Address {
  address: string
  family: number
}

export interface EgressOptions {
  rules: EgressRules
  /** All addresses of a name; the system's resolver unless a test has its own. */
  resolve?: (hostname: string) => Promise<Address[]>
  /** Certificates to trust instead of the usual. */
  ca?: string
}

const bySystem = (hostname: string): Promise<Address[]> => lookupName(hostname, { all: true })

export const createEgress = ({ rules, resolve = bySystem, ca }: EgressOptions): Egress => ({
  check: (url) => void targetOf(url, rules),
  send(request) {
    const target = targetOf(request.url, rules)
    return exchange(request, target, { lookup: checkedLookup(resolve, target), ...(ca ? { ca } : {}) })
  },
})

/** One address that is not public condemns the name: nobody has honest reasons for such a mixture. */
const checkedLookup =
  (resolve: (hostname: string) => Promise<Address[]>, { exempt }: EgressTarget): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname).then(
      (found) => {
        const first = found[0]
        if (!first) return done(new EgressRefused('the name has no address'), '', 0)
        if (!exempt && !found.every(({ address }) => isPublicAddress(address)))
          return done(new EgressRefused('the name leads to an address that is not public'), '', 0)
        if (options.all) done(null, found)
        else done(null, first.address, first.family)
      },
      (cause) => done(cause, '', 0),
    )
  }

interface Connecting {
  lookup: LookupFunction
  ca?: string
}

/** One request on a connection of its own, over when the answer is read, cut or late. */
const exchange = async (
  { method, headers, body, deadlineMs, maxBytes, signal }: EgressRequest,
  { url, hostname, port }: EgressTarget,
  connecting: Connecting,
): Promise<EgressResponse> => {
  const deadline = AbortSignal.timeout(deadlineMs)
  const ended = signal ? AbortSignal.any([signal, deadline]) : deadline
  ended.throwIfAborted()
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest
  const sent = { 'content-length': String(Buffer.byteLength(body)), 'accept-encoding': 'identity', ...headers }
  const request = send({ ...connecting, hostname, port, method, path: url.pathname + url.search, headers: sent, agent: false })
  const abort = () => request.destroy(ended.reason)
  ended.addEventListener('abort', abort)
  try {
    const response = await answerOf(request, body)
    const read = await readBounded(response, maxBytes)
    return { status: response.statusCode ?? 0, headers: response.headers, ...read }
  } catch (cause) {
    // The client has errors of its own for what was aborted; ours says whether it was the time or the caller.
    ended.throwIfAborted()
    throw cause
  } finally {
    ended.removeEventListener('abort', abort)
    request.destroy()
  }
}

const answerOf = (request: ClientRequest, body: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
    // Without an error before it: a change of protocol, which nobody asked for.
    request.on('close', () => reject(new Error('the connection was closed without an answer')))
    request.end(body)
  })

const readBounded = (response: IncomingMessage, maxBytes: number): Promise<{ body: string; complete: boolean }> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = []
    let left = maxBytes
    const end = (complete: boolean) => resolve({ body: Buffer.concat(chunks).toString(), complete })
    response.on('data', (chunk: Buffer) => {
      if (left > 0) chunks.push(chunk.subarray(0, left))
      left -= chunk.length
      if (left < 0) end(false)
    })
    response.on('end', () => end(true))
    response.on('error', () => end(false))
    response.on('close', () => end(false))
  })
