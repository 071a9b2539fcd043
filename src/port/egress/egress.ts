/**
 * The HTTP client for addresses that tenants chose. It only calls the public internet. It checks
 * the URL and every address that the name resolves to, in the lookup of the connection itself, so
 * that the name cannot change in between. Redirects are responses like any other, nothing is sent
 * twice, and no connection or proxy is shared.
 */
import { lookup as lookupName } from 'node:dns/promises'
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { isPublicAddress } from './address.ts'
import { bodyOf } from './body.ts'
import { EgressRefused, type EgressRules, type EgressTarget, targetOf } from './target.ts'
import { ACCEPTED, unpacking } from './unpacking.ts'

export interface EgressRequest {
  url: string
  method: 'GET' | 'POST' | 'DELETE'
  headers: Record<string, string>
  body: string
  /** For the lookup, the connection and the whole response together. */
  deadlineMs: number
  /** The most bytes of the response body that are read. */
  maxBytes: number
  signal?: AbortSignal
}

export interface EgressResponse {
  status: number
  /** Names are in lower case. */
  headers: Record<string, string | string[] | undefined>
  body: string
  /** False if the body was too long, broke off, or did not end in time. */
  complete: boolean
}

type EgressGet = Pick<EgressRequest, 'url' | 'headers' | 'deadlineMs' | 'maxBytes' | 'signal'>

/** A response with its bytes unpacked, up to the same limit. */
export type EgressBytes = Omit<EgressResponse, 'body'> & { bytes: Buffer }

/** No byte of the request was sent. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
}

/** A response whose body is read as it arrives. The body must be read to its end, or cancelled. */
export type EgressStream = Pick<EgressResponse, 'status' | 'headers'> & {
  /**
   * The packed bytes. Fails if the body is longer than `maxBytes` (`TooLong`), breaks off, or does
   * not end in time.
   */
  body: ReadableStream<Uint8Array>
}

export interface Egress {
  /** Throws `EgressRefused` if the URL alone rules the call out. */
  check(url: string): void
  /**
   * Throws `EgressRefused` if nothing was called, a `TimeoutError`, or the system's error if no
   * response came.
   */
  send(request: EgressRequest): Promise<EgressResponse>
  /** The same, for requests that only read. */
  get(request: EgressGet): Promise<EgressBytes>
  /**
   * The same, but returns as soon as the response begins. Throws `NotConnected` if there was no
   * connection.
   */
  open(request: EgressRequest): Promise<EgressStream>
}

interface Address {
  address: string
  family: number
}

export interface EgressOptions {
  rules: EgressRules
  /** Resolves a name to all its addresses. The system's resolver by default. */
  resolve?: (hostname: string) => Promise<Address[]>
  /** Certificates to trust instead of the default ones. */
  ca?: string
}

const bySystem = (hostname: string): Promise<Address[]> => lookupName(hostname, { all: true })

export const createEgress = ({ rules, resolve = bySystem, ca }: EgressOptions): Egress => {
  const beginning = (request: EgressRequest): Exchange => {
    const target = targetOf(request.url, rules)
    return begin(request, target, { lookup: checkedLookup(resolve, target), ...(ca ? { ca } : {}) })
  }
  const calling = async (request: EgressRequest): Promise<EgressBytes> =>
    wholeOf(beginning(request), request.maxBytes)
  return {
    check: (url) => void targetOf(url, rules),
    async send(request) {
      const { bytes, ...answer } = await calling(request)
      return { ...answer, body: bytes.toString() }
    },
    async get(request) {
      const answer = await calling({
        ...request,
        method: 'GET',
        body: '',
        headers: { 'accept-encoding': ACCEPTED, ...request.headers },
      })
      return { ...answer, ...(await unpack(answer, request.maxBytes)) }
    },
    async open(request) {
      if (request.signal?.aborted)
        throw new NotConnected('stopped before it began', { cause: request.signal.reason })
      return streamOf(beginning(request), request.maxBytes)
    },
  }
}

/**
 * If one address of a name is not public, the name is refused, because there is no honest reason
 * for such a mixture.
 */
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

/** One request on its own connection. */
interface Exchange {
  response: Promise<IncomingMessage>
  /** Whether bytes of the request may have been sent. */
  isConnected(): boolean
  /** Aborts when time runs out or the caller stops it. */
  ended: AbortSignal
  /** Ends the connection. */
  end(): void
}

const begin = (
  { method, headers, body, deadlineMs, signal }: EgressRequest,
  { url, hostname, port }: EgressTarget,
  connecting: Connecting,
): Exchange => {
  const deadline = AbortSignal.timeout(deadlineMs)
  const ended = signal ? AbortSignal.any([signal, deadline]) : deadline
  ended.throwIfAborted()
  const isTls = url.protocol === 'https:'
  const length = method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const sent = { ...length, 'accept-encoding': 'identity', ...headers }
  const path = url.pathname + url.search
  const request = (isTls ? tlsRequest : plainRequest)({
    ...connecting,
    hostname,
    port,
    method,
    path,
    headers: sent,
    agent: false,
  })
  let isConnected = false
  request.on('socket', (socket) =>
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      isConnected = true
    }),
  )
  const abort = () => request.destroy(ended.reason)
  ended.addEventListener('abort', abort)
  return {
    response: answerOf(request, body),
    isConnected: () => isConnected,
    ended,
    end() {
      ended.removeEventListener('abort', abort)
      request.destroy()
    },
  }
}

const wholeOf = async (exchange: Exchange, maxBytes: number): Promise<EgressBytes> => {
  try {
    const response = await exchange.response
    const read = await readBounded(response, maxBytes)
    return { status: response.statusCode ?? 0, headers: response.headers, ...read }
  } catch (cause) {
    // For an aborted request, the client throws its own error. Ours tells whether time ran out or
    // the caller stopped it.
    exchange.ended.throwIfAborted()
    throw cause
  } finally {
    exchange.end()
  }
}

const streamOf = async (exchange: Exchange, maxBytes: number): Promise<EgressStream> => {
  try {
    const response = await exchange.response
    const body = bodyOf(response, { maxBytes, ended: exchange.ended, end: exchange.end })
    return { status: response.statusCode ?? 0, headers: response.headers, body }
  } catch (thrown) {
    exchange.end()
    const cause = exchange.ended.aborted ? exchange.ended.reason : thrown
    if (exchange.isConnected() || cause instanceof EgressRefused) throw cause
    throw new NotConnected('no connection came about', { cause })
  }
}

const answerOf = (request: ClientRequest, body: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
    // A close without an error is a protocol upgrade, which nobody asked for.
    request.on('close', () => reject(new Error('the connection was closed without an answer')))
    request.end(body)
  })

/** A packed megabyte can hold a gigabyte, so no more is unpacked than is kept. */
const unpack = async (
  { headers, bytes, complete }: EgressBytes,
  maxBytes: number,
): Promise<Pick<EgressBytes, 'bytes' | 'complete'>> => {
  const stream = unpacking(headers['content-encoding'])
  if (!stream) return { bytes, complete }
  try {
    const reading = readBounded(stream, maxBytes)
    stream.end(bytes)
    const read = await reading
    return { bytes: read.bytes, complete: read.complete && complete }
  } finally {
    stream.destroy()
  }
}

const readBounded = (
  stream: Readable,
  maxBytes: number,
): Promise<{ bytes: Buffer; complete: boolean }> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = []
    let left = maxBytes
    const end = (complete: boolean) => resolve({ bytes: Buffer.concat(chunks), complete })
    stream.on('data', (chunk: Buffer) => {
      if (left > 0) chunks.push(chunk.subarray(0, left))
      left -= chunk.length
      if (left < 0) end(false)
    })
    stream.on('end', () => end(true))
    stream.on('error', () => end(false))
    stream.on('close', () => end(false))
  })
