/** Reading records from the server that has them. */
import type { Egress } from '#port/egress/egress'
import { asObject, type JsonObject, objectsIn } from '#port/fields'
import { NetworkError } from '../network.ts'
import { failureWords, meaningOf, readError } from './errors.ts'
import { type DidOwner, type Directory, ownerOfDid } from './identity.ts'
import type { RecordRef } from './refs.ts'
import { callXrpc, MOST_PAGE_BYTES, type XrpcFailure } from './xrpc.ts'

export interface StoredRecord {
  uri: string
  cid: string
  value: JsonObject
}

const CID = /^[A-Za-z0-9]{10,200}$/

const recordIn = ({ uri, cid, value }: JsonObject): StoredRecord | undefined =>
  typeof uri === 'string' && typeof cid === 'string' && CID.test(cid)
    ? { uri, cid, value: asObject(value) }
    : undefined

const unreadable = (what: string): NetworkError =>
  new NetworkError('bad_answer', `the server's answer about ${what} cannot be read`)

/** These questions are asked without a session, so that no answer is about ours. */
const openError = (answer: XrpcFailure): NetworkError => {
  const error = readError(answer)
  return error.reason === 'disconnected' || error.isSessionOver
    ? new NetworkError('unreachable', failureWords(answer))
    : error
}

/** Undefined if this server says that there is none. Throws `NetworkError`. */
export const readRecord = async (
  egress: Egress,
  { at, ref: { repo, collection, key } }: { at: string; ref: RecordRef },
  signal: AbortSignal,
): Promise<StoredRecord | undefined> => {
  const query = { repo, collection, rkey: key }
  const method = 'com.atproto.repo.getRecord'
  const answer = await callXrpc(egress, { at, method, query }, signal)
  if (answer.kind !== 'ok') {
    if (meaningOf(answer) === 'absent') return undefined
    throw openError(answer)
  }
  const record = recordIn(answer.value)
  if (!record) throw unreadable('a record')
  return record
}

/** A person whose repository can be asked. Null if the DID is gone or names no server. */
export const housed = async (
  directory: Directory,
  did: string,
  signal: AbortSignal,
): Promise<(DidOwner & { pds: string }) | null> => {
  const owner = await ownerOfDid(directory, did, signal)
  return owner && owner.pds !== null ? { ...owner, pds: owner.pds } : null
}

export interface RecordPages {
  /** By key, newest first. */
  records: StoredRecord[]
  /** Whether these are all records of the collection. */
  isWhole: boolean
}

const PAGE = 100

interface Listed {
  at: string
  repo: string
  collection: string
  mostPages: number
}

/**
 * The records of a collection, up to some pages. It ends where the server names no further page,
 * or at an empty one: a page may be short because the server hides records. Throws `NetworkError`.
 */
export const listRecords = async (
  egress: Egress,
  { at, repo, collection, mostPages }: Listed,
  signal: AbortSignal,
): Promise<RecordPages> => {
  const records: StoredRecord[] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page++) {
    const query = { repo, collection, limit: String(PAGE), ...(cursor ? { cursor } : {}) }
    const method = 'com.atproto.repo.listRecords'
    const asked = { at, method, query, maxBytes: MOST_PAGE_BYTES }
    const answer = await callXrpc(egress, asked, signal)
    if (answer.kind !== 'ok') throw openError(answer)
    if (!Array.isArray(answer.value.records)) throw unreadable('records')
    const found = objectsIn(answer.value.records, PAGE)
    records.push(...found.flatMap((one) => recordIn(one) ?? []))
    cursor = typeof answer.value.cursor === 'string' ? answer.value.cursor : undefined
    if (!cursor || found.length === 0) return { records, isWhole: true }
  }
  return { records, isWhole: false }
}
