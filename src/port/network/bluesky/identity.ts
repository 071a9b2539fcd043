/** Who somebody is: handles, DIDs, and the servers that have their repositories. */
import type { Egress } from '#port/egress/egress'
import { asObject, type JsonObject, objectsIn } from '#port/fields'
import { NetworkError } from '../network.ts'
import { failureWords, meaningOf, readError } from './errors.ts'
import { handleIn, isDid } from './refs.ts'
import { callXrpc, getDocument, type XrpcAnswer } from './xrpc.ts'

export interface Directory {
  egress: Egress
  plcUrl: string
}

export interface DidOwner {
  did: string
  /** By the DID's document; null if it names none. */
  handle: string | null
  /** The origin of the server with the repository; null if the document names none. */
  pds: string | null
}

const MOST_SERVICES = 50
const PLC = /^did:plc:[a-z0-9]{1,64}$/
const WEB = /^did:web:([A-Za-z0-9.-]{1,253}(?:%3A\d{1,5})?)$/i
const GONE = [404, 410]

/** `http` or `https`, a host and perhaps a port, and nothing else; undefined for anything else. */
export const originIn = (text: unknown): string | undefined => {
  const url = typeof text === 'string' ? URL.parse(text) : null
  if (!url || !['https:', 'http:'].includes(url.protocol)) return undefined
  const rest = [url.username, url.password, url.search, url.hash].join('')
  return rest === '' && url.pathname === '/' ? url.origin : undefined
}

const pdsIn = (did: string, document: JsonObject): string | null => {
  const ids: unknown[] = ['#atproto_pds', `${did}#atproto_pds`]
  const named = objectsIn(document.service, MOST_SERVICES).find(({ id }) => ids.includes(id))
  if (!named) return null
  const origin = originIn(named.serviceEndpoint)
  if (origin !== undefined) return origin
  throw new NetworkError('bad_answer', `the document of ${did} names no server that can be used`)
}

const handleOfDocument = (document: JsonObject): string | null => {
  const names: unknown[] = Array.isArray(document.alsoKnownAs) ? document.alsoKnownAs : []
  const first = names.find((name) => typeof name === 'string' && name.startsWith('at://'))
  return typeof first === 'string' ? (handleIn(first.slice('at://'.length)) ?? null) : null
}

/** Throws `NetworkError` if the document is another's, or names a server that cannot be used. */
export const ownerIn = (did: string, document: unknown): DidOwner => {
  const told = asObject(document)
  if (told.id !== did)
    throw new NetworkError('bad_answer', `what came is not the document of ${did}`)
  return { did, handle: handleOfDocument(told), pds: pdsIn(did, told) }
}

const documentUrl = (did: string, plcUrl: string): string => {
  if (PLC.test(did)) return `${plcUrl}/${did}`
  const host = WEB.exec(did)?.[1]
  if (host === undefined)
    throw new NetworkError('bad_answer', `${did} is of a kind that nobody uses`)
  return `https://${decodeURIComponent(host)}/.well-known/did.json`
}

const unreadable = (what: string, answer: XrpcAnswer | { kind: 'text' }): NetworkError => {
  if (answer.kind === 'text' || answer.kind === 'ok')
    return new NetworkError('bad_answer', `${what} cannot be read`)
  const { reason, retryAfterMs } = readError(answer)
  const isLimit = reason === 'rate_limited'
  return new NetworkError(
    isLimit || reason === 'bad_answer' ? reason : 'unreachable',
    `${what} cannot be had: ${failureWords(answer)}`,
    retryAfterMs,
  )
}

/** By the DID's own document; null if there is no such DID any more. */
export const ownerOfDid = async (
  { egress, plcUrl }: Directory,
  did: string,
  signal: AbortSignal,
): Promise<DidOwner | null> => {
  const answer = await getDocument(egress, documentUrl(did, plcUrl), signal)
  if (answer.kind === 'ok') return ownerIn(did, answer.value)
  if (answer.kind === 'failed' && GONE.includes(answer.status) && answer.isComplete) return null
  throw unreadable(`the document of ${did}`, answer)
}

/** The answer of the host that is the handle itself. */
const didAtHost = async (
  { egress }: Directory,
  handle: string,
  signal: AbortSignal,
): Promise<string | null> => {
  const answer = await getDocument(egress, `https://${handle}/.well-known/atproto-did`, signal)
  if (answer.kind !== 'text') {
    if (answer.kind === 'silent') throw unreadable(`the owner of @${handle}`, answer)
    return null
  }
  const told = answer.text.trim()
  return isDid(told) ? told : null
}

/** The DID that a server, or else the handle's own host, has for a handle. */
const didOf = async (
  directory: Directory,
  { handle, at }: { handle: string; at: string },
  signal: AbortSignal,
): Promise<string | null> => {
  const method = 'com.atproto.identity.resolveHandle'
  const answer = await callXrpc(directory.egress, { at, method, query: { handle } }, signal)
  if (answer.kind === 'ok' && isDid(answer.value.did)) return answer.value.did
  const byHost = await didAtHost(directory, handle, signal)
  if (byHost !== null) return byHost
  if (answer.kind !== 'ok' && ['absent', 'refused'].includes(meaningOf(answer))) return null
  throw unreadable(`the owner of @${handle}`, answer)
}

/**
 * The person with a handle; null if nobody has it. A handle belongs to the DID it leads to only if
 * that DID's document names the handle too.
 */
export const ownerOfHandle = async (
  directory: Directory,
  asked: { handle: string; at: string },
  signal: AbortSignal,
): Promise<DidOwner | null> => {
  const did = await didOf(directory, asked, signal)
  const owner = did === null ? null : await ownerOfDid(directory, did, signal)
  return owner?.handle === asked.handle ? owner : null
}
