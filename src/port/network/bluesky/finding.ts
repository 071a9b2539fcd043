/** Whether something was sent: a look at its key, at the server that has the repository now. */
import type { Made } from '#domain/growth/sending/sendable'
import { type KeyedPost, NetworkError } from '../network.ts'
import { type BlueskySettings, blueskyCredentialsOf } from './account.ts'
import { ownerOfDid } from './identity.ts'
import { MOST_KEYS, nthKey } from './keys.ts'
import { COLLECTIONS, isSent } from './record.ts'
import { readRecord } from './repository.ts'
import { madeUnder } from './writing.ts'

const findAt = async (
  { egress, appUrl }: BlueskySettings,
  at: string,
  wanted: KeyedPost,
  signal: AbortSignal,
): Promise<Made | undefined> => {
  const { account, action } = wanted
  for (let n = 0; n < MOST_KEYS; n++) {
    const key = nthKey(wanted.key, n)
    const ref = { repo: account.externalId, collection: COLLECTIONS[action], key }
    const found = await readRecord(egress, { at, ref }, signal)
    if (!found) return undefined
    if (isSent(wanted, found.value)) return madeUnder(appUrl, wanted, key)
  }
  return undefined
}

/** The server by the document of the DID, as it is now. */
const pdsNow = async (
  settings: BlueskySettings,
  did: string,
  signal: AbortSignal,
): Promise<string> => {
  const owner = await ownerOfDid(settings, did, signal)
  if (owner?.pds) return owner.pds
  throw new NetworkError('unreachable', `the document of ${did} names no server`)
}

/** Null without credentials that can be opened: reading needs none. */
const knownPds = (settings: BlueskySettings, account: KeyedPost['account']): string | null => {
  try {
    return blueskyCredentialsOf(settings, account).pds
  } catch (cause) {
    if (cause instanceof NetworkError) return null
    throw cause
  }
}

/** What the last known server has, or why it did not tell. */
const atKnown = async (
  settings: BlueskySettings,
  known: string | null,
  wanted: KeyedPost,
  signal: AbortSignal,
): Promise<Made | NetworkError | undefined> => {
  if (known === null) return undefined
  try {
    return await findAt(settings, known, wanted, signal)
  } catch (cause) {
    if (cause instanceof NetworkError && cause.reason !== 'rate_limited') return cause
    throw cause
  }
}

/**
 * Looks where the repository was last known to be. An absence counts only at the server that the
 * document of the DID names now: a server that an account has left may answer as if nothing had
 * been written.
 */
export const findSent = async (
  settings: BlueskySettings,
  wanted: KeyedPost,
  signal: AbortSignal,
): Promise<Made | undefined> => {
  const known = knownPds(settings, wanted.account)
  const told = await atKnown(settings, known, wanted, signal)
  if (told && !(told instanceof NetworkError)) return told
  const now = await pdsNow(settings, wanted.account.externalId, signal)
  if (now !== known) return findAt(settings, now, wanted, signal)
  if (told) throw told
  return undefined
}
