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
import type { BlueskyCredentials, OauthSession } from './credentials.ts'
import { findSent } from './finding.ts'
import { HostTurns } from './host-turns.ts'
import { tidOf } from './keys.ts'
import { makeMarks } from './marks.ts'
import { beginOauth, type OauthWish, type PendingOauth, redeemOauth } from './oauth/authorizing.ts'
import { readMentions, readPost, readPostsOf } from './others.ts'
import { readMetrics, readOwnPosts } from './own.ts'
import { postIdInRef } from './refs.ts'
import { type BlueskyRenewal, renewBlueskySession } from './renewal.ts'
import { type BlueskySignedIn, type SignInWish, signIn } from './session.ts'
import { signOut } from './sign-out.ts'
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
  /**
   * Announces to an account's server that somebody comes to grant access, and returns the page to
   * lead them to. `state` comes back from there. Throws like `signIn`, and `conflict` where this
   * deployment cannot ask for access.
   */
  begin(
    wanted: OauthWish & { state: string },
    signal: AbortSignal,
  ): Promise<{ url: string; pending: PendingOauth }>
  /** Begins the session that was granted, once. Throws like `begin`. */
  redeem(
    granted: { code: string; pending: PendingOauth },
    signal: AbortSignal,
  ): Promise<BlueskySignedIn<OauthSession>>
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
    begin: (wanted, signal) => beginOauth(settings, wanted, signal),
    redeem: (granted, signal) => redeemOauth(settings, granted, signal),
    renew: (credentials, signal) => renewBlueskySession(settings, credentials, signal),
    signOut: (credentials, signal) => signOut(settings, credentials, signal),
  }
}
