/** What the parts of the adapter share. */
import type { Log } from '#kernel/log'
import { type NetworkAccount, NetworkError } from '../network.ts'
import { type BlueskyCredentials, parseBlueskyCredentials } from './credentials.ts'
import type { Directory } from './identity.ts'
import type { OauthClient } from './oauth/client.ts'

export interface BlueskySettings extends Directory {
  /** Opens what an account's row has sealed. */
  open(account: NetworkAccount): string
  /** Where people sign in who name no other server. */
  service: string
  /** The website that shows posts. */
  appUrl: string
  /** As whom we ask for access to accounts. */
  client: OauthClient
  log: Log
}

/** Throws `NetworkError` if there are none, or if they cannot be opened. */
export const blueskyCredentialsOf = (
  { open, log }: BlueskySettings,
  account: NetworkAccount,
): BlueskyCredentials => {
  if (account.credentials === null)
    throw new NetworkError('disconnected', 'the account is not signed in')
  try {
    const credentials = parseBlueskyCredentials(open(account))
    if (credentials.did === account.externalId) return credentials
    throw new Error('the credentials are of another account')
  } catch (cause) {
    log.error({ connection: account.id, cause }, 'the credentials of an account cannot be opened')
    throw new NetworkError('unreachable', 'the credentials of the account cannot be opened')
  }
}
