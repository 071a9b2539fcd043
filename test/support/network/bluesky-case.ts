/** Accounts of Bluesky for the suite of all networks, on a PDS that is played or real. */
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { createEgress } from '#port/egress/egress'
import { createBluesky } from '#port/network/bluesky/bluesky'
import { stringifyBlueskyCredentials } from '#port/network/bluesky/credentials'
import type { NetworkCase } from '#test/cases/network'
import { loopbackClient } from './loopback-client.ts'

interface Place {
  url: string
  plcUrl: string
  /** Makes an account with an app password. */
  account(): Promise<{ handle: string; appPassword: string }>
}

/** Two new accounts, signed in. */
export const blueskyCase = async (
  place: Place,
): Promise<Omit<NetworkCase, keyof AsyncDisposable>> => {
  const allow = new Set([place.url, place.plcUrl].map((url) => new URL(url).host))
  const network = createBluesky({
    egress: createEgress({ rules: { allow, own: new Set() } }),
    open: ({ credentials }) => credentials ?? '',
    service: place.url,
    plcUrl: place.plcUrl,
    appUrl: 'https://bsky.app',
    client: loopbackClient,
    log: createLog('silent'),
  })
  const account = async () => {
    const { handle, appPassword: password } = await place.account()
    const signal = AbortSignal.timeout(30_000)
    const { credentials } = await network.signIn({ handle, password, keep: false }, signal)
    const sealed = stringifyBlueskyCredentials(credentials)
    return { id: newId(), externalId: credentials.did, handle, credentials: sealed }
  }
  return { network, account: await account(), other: await account() }
}
