/** Writing records under keys of our own, so that no number of tries makes a second post. */
import { asObject } from '#port/fields'
import {
  type EngageRequest,
  type KeyedPost,
  NetworkError,
  type PublishRequest,
  type PublishResult,
} from '../network.ts'
import { type BlueskySettings, blueskyCredentialsOf } from './account.ts'
import type { BlueskyCredentials } from './credentials.ts'
import { meaningOf, unsentResult, writeResult } from './errors.ts'
import { MOST_KEYS, nthKey } from './keys.ts'
import {
  COLLECTIONS,
  isSent,
  postRecord,
  reactionRecord,
  refusalOfText,
  type StrongRef,
} from './record.ts'
import { atUri, isDid, postRefIn, postUrl, recordRefIn } from './refs.ts'
import { housed, readRecord, type StoredRecord } from './repository.ts'
import { callXrpc } from './xrpc.ts'

/** One record to write, and what it is for. */
interface Writing {
  session: BlueskyCredentials
  sent: KeyedPost
  record: object
}

/** A post is known by where it stands, a like or a repost by the post it is of. */
export const madeUnder = (
  appUrl: string,
  { account, action, postId }: Omit<KeyedPost, 'key' | 'text'>,
  key: string,
): { externalId: string; url: string | null } =>
  (action === 'like' || action === 'repost') && postId !== null
    ? { externalId: postId, url: null }
    : {
        externalId: atUri({ repo: account.externalId, collection: COLLECTIONS[action], key }),
        url: postUrl(appUrl, account.handle, key),
      }

/** What stands under a key after the server said that it is in use. */
const standing = async (
  { egress }: BlueskySettings,
  { session, sent }: Writing,
  key: string,
  signal: AbortSignal,
): Promise<'ours' | "another's" | PublishResult> => {
  const ref = { repo: session.did, collection: COLLECTIONS[sent.action], key }
  const unclear = (why: string): PublishResult => ({
    kind: 'unknown',
    reason: `the key of the post is in use, and ${why}`,
    cause: 'unclear_answer',
  })
  try {
    const found = await readRecord(egress, { at: session.pds, ref }, signal)
    if (!found) return unclear('yet nothing stands under it')
    return isSent(sent, found.value) ? 'ours' : "another's"
  } catch (cause) {
    if (!(cause instanceof NetworkError)) throw cause
    return unclear(`what stands under it cannot be read: ${cause.message}`)
  }
}

const putOnce = async (
  settings: BlueskySettings,
  writing: Writing,
  key: string,
  signal: AbortSignal,
): Promise<PublishResult | "another's"> => {
  const { session, sent, record } = writing
  const [repo, collection] = [session.did, COLLECTIONS[sent.action]]
  const posted = { kind: 'posted', ...madeUnder(settings.appUrl, sent, key) } as const
  const answer = await callXrpc(
    settings.egress,
    {
      at: session.pds,
      method: 'com.atproto.repo.putRecord',
      session,
      // Without `swapRecord`, a record that stands there already is overwritten.
      body: { repo, collection, rkey: key, swapRecord: null, record },
    },
    signal,
  )
  if (answer.kind === 'ok')
    return answer.value.uri === atUri({ repo, collection, key })
      ? posted
      : { kind: 'unknown', reason: 'it named another record', cause: 'unclear_answer' }
  if (meaningOf(answer) !== 'taken') return writeResult(answer)
  const there = await standing(settings, writing, key, signal)
  return there === 'ours' ? posted : there
}

const put = async (
  settings: BlueskySettings,
  writing: Writing,
  signal: AbortSignal,
): Promise<PublishResult> => {
  for (let n = 0; n < MOST_KEYS; n++) {
    const key = nthKey(writing.sent.key, n)
    const result = await putOnce(settings, writing, key, signal)
    if (result !== "another's") return result
  }
  return { kind: 'refused', reason: `other records stand under all ${MOST_KEYS} of its keys` }
}

const keyIn = ({ key }: { key: string | null }): string => {
  if (key === null) throw new Error('a post of this network needs a key')
  return key
}

const givenUp: PublishResult = {
  kind: 'not_applied',
  reason: 'unreachable',
  detail: 'given up before anything was sent',
}

/** The session, or what comes of a request without one. */
const sessionFor = (
  settings: BlueskySettings,
  { account }: PublishRequest | EngageRequest,
): BlueskyCredentials | PublishResult => {
  try {
    return blueskyCredentialsOf(settings, account)
  } catch (cause) {
    if (!(cause instanceof NetworkError)) throw cause
    return cause.reason === 'disconnected'
      ? { kind: 'disconnected', reason: cause.message }
      : unsentResult(cause)
  }
}

/** Whichever comes first: the caller's signal, or the deadline for all requests together. */
const until = (signal: AbortSignal, deadlineMs: number): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])

export const publish = async (
  settings: BlueskySettings,
  request: PublishRequest,
  signal: AbortSignal,
): Promise<PublishResult> => {
  const { account, text, marks, madeAt, deadlineMs } = request
  const key = keyIn(request)
  const reason = refusalOfText(text)
  if (reason !== null) return { kind: 'refused', reason }
  if (signal.aborted) return givenUp
  const session = sessionFor(settings, request)
  if ('kind' in session) return session
  const sent = { account, key, action: 'post', text, postId: null } as const
  const record = postRecord(text, madeAt, { marks })
  return put(settings, { session, sent, record }, until(signal, deadlineMs))
}

/** The post to engage with, read from its author's own server; or why that cannot be. */
const subjectOf = async (
  settings: BlueskySettings,
  session: BlueskyCredentials,
  postId: string,
  signal: AbortSignal,
): Promise<StoredRecord | PublishResult> => {
  const ref = postRefIn(postId, settings.appUrl)
  const gone: PublishResult = { kind: 'refused', reason: 'the post does not exist, or no longer' }
  if (!ref || !isDid(ref.repo) || atUri(ref) !== postId) return gone
  try {
    const author = ref.repo === session.did ? session : await housed(settings, ref.repo, signal)
    if (!author) return gone
    const found = await readRecord(settings.egress, { at: author.pds, ref }, signal)
    return found ? { ...found, uri: postId } : gone
  } catch (cause) {
    if (!(cause instanceof NetworkError)) throw cause
    return unsentResult(cause)
  }
}

const refIn = (value: unknown): StrongRef | undefined => {
  const { uri, cid } = asObject(value)
  return recordRefIn(uri) && typeof cid === 'string' ? { uri: String(uri), cid } : undefined
}

const engagingRecord = (
  { action, text = '', madeAt }: EngageRequest,
  { uri, cid, value }: StoredRecord,
): object => {
  const subject = { uri, cid }
  switch (action) {
    case 'like':
    case 'repost':
      return reactionRecord(action, subject, madeAt)
    case 'quote':
      return postRecord(text, madeAt, {
        more: { embed: { $type: 'app.bsky.embed.record', record: subject } },
      })
    case 'reply': {
      const root = refIn(asObject(value.reply).root) ?? subject
      return postRecord(text, madeAt, { more: { reply: { root, parent: subject } } })
    }
  }
}

export const engage = async (
  settings: BlueskySettings,
  request: EngageRequest,
  signal: AbortSignal,
): Promise<PublishResult> => {
  const { account, action, postId, deadlineMs } = request
  const key = keyIn(request)
  const isReaction = action === 'like' || action === 'repost'
  const text = isReaction ? null : (request.text ?? '')
  const reason = text === null ? null : refusalOfText(text)
  if (reason !== null) return { kind: 'refused', reason }
  if (signal.aborted) return givenUp
  const session = sessionFor(settings, request)
  if ('kind' in session) return session
  const ended = until(signal, deadlineMs)
  const subject = await subjectOf(settings, session, postId, ended)
  if ('kind' in subject) return subject
  const sent = { account, key, action, text, postId }
  return put(settings, { session, sent, record: engagingRecord(request, subject) }, ended)
}
