/** Bluesky, and every server of the AT Protocol, over plain requests through the egress client. */
import { engageActions } from '#contract/records/growth/engagement'
import { reactionNames } from '#contract/records/growth/item'
import {
  GRAPHEME_COUNTING,
  GRAPHEME_LIMIT,
  graphemeLength,
} from '#domain/growth/length/grapheme-length'
import type { NetworkMarks } from '../marks.ts'
import type { Network, NetworkAccount, NetworkLimits, PostKeys } from '../network.ts'
import type { BlueskySettings } from './account.ts'
import type { BlueskyCredentials } from './credentials.ts'
import { findSent } from './finding.ts'
import { HostTurns } from './host-turns.ts'
import { tidOf } from './keys.ts'
import { makeMarks } from './marks.ts'
import { readMentions, readPost, readPostsOf } from './others.ts'
import { readMetrics, readOwnPosts } from './own.ts'
import { postIdInRef } from './refs.ts'
import { type BlueskyRenewal, renewBlueskySession } from './renewal.ts'
import { type BlueskySignedIn, type SignInWish, signIn, signOut } from './session.ts'
import { engage, publish } from './writing.ts'

export type { BlueskySettings } from './account.ts'

export interface Bluesky extends Network {
  readonly keys: PostKeys
  readonly marks: NetworkMarks<NetworkAccount>
  /**
   * Begins a session with an app password. Throws `invalid_input` if a person has to change what
   * they gave, and `NetworkError` if the server does not answer as it should.
   */
  signIn(wanted: SignInWish, signal: AbortSignal): Promise<BlueskySignedIn>
  /** Never throws. */
  renew(credentials: BlueskyCredentials, signal: AbortSignal): Promise<BlueskyRenewal>
  /** Ends the session. Throws `NetworkError` if it may live on. */
  signOut(credentials: BlueskyCredentials, signal: AbortSignal): Promise<void>
}

const limits: NetworkLimits = {
  maxLength: GRAPHEME_LIMIT,
  maxLongLength: null,
  measure: graphemeLength,
  tier: 'free',
  maxApplyMs: null,
  completeReadBack: false,
  counting: GRAPHEME_COUNTING,
  actions: engageActions,
  counts: reactionNames,
  prices: null,
}

export const createBluesky = (settings: BlueskySettings): Bluesky => {
  const turns = new HostTurns()
  /** For reads that nobody waits for. */
  const inTurn = ({ id }: NetworkAccount): BlueskySettings => ({
    ...settings,
    egress: turns.egressFor(id, settings.egress),
  })
  return {
    name: 'bluesky',
    limits,
    keys: { keyOf: tidOf, find: (wanted, signal) => findSent(settings, wanted, signal) },
    marks: { make: (request, signal) => makeMarks(settings, request, signal) },
    publish: (request, signal) => publish(settings, request, signal),
    engage: (request, signal) => engage(settings, request, signal),
    preflight: () => ({ allowed: true }),
    readTimeline: (account, since, signal) => readOwnPosts(settings, { account, since }, signal),
    readMetrics: (account, ids, signal) => readMetrics(inTurn(account), { account, ids }, signal),
    readHandle: (account, query, signal) =>
      readPostsOf(inTurn(account), { account, query }, signal),
    readMentions: (account, query, signal) =>
      readMentions(inTurn(account), { account, query }, signal),
    readPost: (account, ref, signal) => readPost(settings, { account, ref }, signal),
    postIdIn: (ref) => postIdInRef(ref, settings.appUrl),
    signIn: (wanted, signal) => signIn(settings, wanted, signal),
    renew: (credentials, signal) => renewBlueskySession(settings, credentials, signal),
    signOut: (credentials, signal) => signOut(settings.egress, credentials, signal),
  }
}
