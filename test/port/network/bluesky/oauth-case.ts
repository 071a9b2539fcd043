/** A played PDS with an authorization server, and an account on it that signs in by OAuth. */
import { beforeEach } from 'bun:test'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { type Bluesky, createBluesky } from '#port/network/bluesky/bluesky'
import { type OauthSession, stringifyBlueskyCredentials } from '#port/network/bluesky/credentials'
import type { OauthClient } from '#port/network/bluesky/oauth/client'
import { OauthTrouble } from '#port/network/bluesky/oauth/server'
import { egressTo } from '#test/support/http/egress'
import { loopbackClient } from '#test/support/network/loopback-client'
import { openPds, type PdsAccount } from '#test/support/network/pds'
import { use } from '#test/support/use'
import { APP, AT, keyFor, never, type Scripted } from './scripted.ts'

export const STATE = 'the-state'
/** As faults and requests name them. */
export const PATHS = {
  resource: '/.well-known/oauth-protected-resource',
  server: '/.well-known/oauth-authorization-server',
  push: '/oauth/par',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
} as const

interface Failed {
  /** The code, or the reason why nothing is certain. */
  as: string
  says: string
  isOurs: boolean
}

export const failureOf = async (running: Promise<unknown>): Promise<Failed> => {
  const cause = await running.then(
    () => new Error('it did not fail'),
    (thrown: Error) => thrown,
  )
  const {
    code = '',
    reason = '',
    message: says,
  } = cause as Error & { code?: string; reason?: string }
  return { as: code || reason || 'another', says, isOurs: cause instanceof OauthTrouble }
}

let count = 0

/** Another account for each test, and the adapter as a client of this machine. */
export const useOauth = () => {
  const pds = use(() => openPds())
  const networkAs = (client: OauthClient): Bluesky =>
    createBluesky({
      egress: egressTo(pds.url, pds.plcUrl),
      open: ({ credentials }) => credentials ?? '',
      service: pds.url,
      plcUrl: pds.plcUrl,
      appUrl: APP,
      client,
      log: createLog('silent'),
    })
  const it = {
    pds,
    networkAs,
    person: undefined as unknown as PdsAccount,
    network: undefined as unknown as Bluesky,
    begin: (wish = {}) =>
      it.network.begin({ handle: it.person.handle, service: null, state: STATE, ...wish }, never()),
    /** As a person who grants access, and is led back. */
    async granted(wish = {}, how: { did?: string; scope?: string } = {}) {
      const { url, pending } = await it.begin(wish)
      const back = new URL(pds.oauth.grant(url, how.did ?? it.person.did, how))
      return { pending, code: back.searchParams.get('code')! }
    },
    async redeem(wish = {}, how = {}) {
      const { pending, code } = await it.granted(wish, how)
      return it.network.redeem({ code, pending }, never())
    },
    post: (credentials: OauthSession, text: string) =>
      it.network.publish(
        {
          account: {
            id: newId(),
            externalId: credentials.did,
            handle: it.person.handle,
            credentials: stringifyBlueskyCredentials(credentials),
          },
          text,
          attemptId: newId(),
          key: keyFor(it as unknown as Scripted, text),
          madeAt: AT,
          deadlineMs: 5_000,
        },
        never(),
      ),
    /** Since the last call. */
    asked: () => pds.requests.splice(0),
    /** What the account has granted last. */
    grant: () => pds.oauth.grants.findLast(({ did }) => did === it.person.did)!,
  }
  beforeEach(() => {
    pds.heal()
    pds.oauth.documents = {}
    it.person = pds.account(`oauth-${++count}.test`)
    it.network = networkAs(loopbackClient)
  })
  return it
}
