/** Bluesky as a network of this deployment: its accounts' credentials are sealed in their rows. */
import { fail } from '#kernel/errors'
import type { Sealer } from '#kernel/sealer'
import { authorizationRow } from '#store/app/authorizations'
import { credentialsRow } from '#store/growth/connections'
import {
  type Network,
  type NetworkAccount,
  NetworkError,
  type NetworkSessions,
} from '../network.ts'
import { type Bluesky, type BlueskySettings, createBluesky } from './bluesky.ts'
import {
  type BlueskyCredentials,
  parseBlueskyCredentials,
  stringifyBlueskyCredentials,
} from './credentials.ts'
import { checkOauthWish, type OauthWish, parsePendingOauth } from './oauth/authorizing.ts'
import type { OauthClient } from './oauth/client.ts'
import { handleIn } from './refs.ts'

interface SignIn {
  handle: string
  /** An app password. */
  password: string
  service?: string | undefined
  /** Whether the password is kept. */
  keep: boolean
}

interface KnownAccount {
  externalId: string
  handle: string
  displayName: string | null
}

interface ConnectedAccount extends KnownAccount {
  session: { seal(id: string): string; endsAt: Date }
}

/** What came back from the page to which a person was led. */
interface Granted {
  code: string
  /** The server that says it has sent it. */
  issuer: string
}

/**
 * Signing in on a page of the account's own server. What is kept meanwhile is sealed for the row of
 * the authorization with this id.
 */
interface BlueskyOauth extends Pick<OauthClient, 'metadata' | 'keySet'> {
  readonly kind: 'confidential' | 'loopback' | undefined
  /** Throws `invalid_input`, and `conflict` where this deployment cannot ask for access. */
  check(wish: OauthWish): void
  /** Throws `NetworkError`, and `AppError` for input that Bluesky refuses. */
  begin(
    id: string,
    wish: OauthWish & { state: string },
    signal: AbortSignal,
  ): Promise<{ url: string; secrets: Buffer }>
  /** Throws like `begin`. The session is in `secrets` then. */
  redeem(
    id: string,
    granted: Granted & { secrets: Buffer },
    signal: AbortSignal,
  ): Promise<{ account: KnownAccount; secrets: Buffer }>
  /** The session, for the row of an account. */
  sessionIn(id: string, secrets: Buffer): ConnectedAccount['session']
  /** Ends a session that no account was connected with. Never throws. */
  abandon(id: string, secrets: Buffer, signal: AbortSignal): Promise<void>
}

export interface BlueskyNetwork extends Network {
  /** Where people sign in who name no other server. */
  readonly service: string
  /** Whether somebody there can have this name, which has no `@`. */
  isHandle(name: string): boolean
  /** Signs in. Throws `NetworkError`, and `AppError` for input that Bluesky refuses. */
  connect(wanted: SignIn, signal: AbortSignal): Promise<ConnectedAccount>
  readonly sessions: NetworkSessions
  readonly oauth: BlueskyOauth
}

interface NetworkSettings extends Omit<BlueskySettings, 'open'> {
  sealer: Sealer
}

const OTHER_SERVER =
  'the answer is not of the server that was asked, so nothing was connected: begin again'

const oauthOf = (
  bluesky: Bluesky,
  { sealer, ...settings }: NetworkSettings,
  sessionOf: (credentials: BlueskyCredentials) => ConnectedAccount['session'],
): BlueskyOauth => {
  const { client } = settings
  const seal = (id: string, text: string) => sealer.seal(text, authorizationRow(id))
  const open = (id: string, secrets: Buffer) => sealer.open(secrets, authorizationRow(id))
  return {
    kind: client.party?.kind,
    metadata: client.metadata,
    keySet: client.keySet,
    check: (wish) => void checkOauthWish(settings, wish),
    async begin(id, wish, signal) {
      const { url, pending } = await bluesky.begin(wish, signal)
      return { url, secrets: seal(id, JSON.stringify(pending)) }
    },
    async redeem(id, { code, issuer, secrets }, signal) {
      const pending = parsePendingOauth(open(id, secrets))
      if (issuer !== pending.issuer) fail('invalid_input', OTHER_SERVER)
      const { credentials, ...known } = await bluesky.redeem({ code, pending }, signal)
      return {
        account: { externalId: credentials.did, ...known },
        secrets: seal(id, stringifyBlueskyCredentials(credentials)),
      }
    },
    sessionIn: (id, secrets) => sessionOf(parseBlueskyCredentials(open(id, secrets))),
    async abandon(id, secrets, signal) {
      try {
        await bluesky.signOut(parseBlueskyCredentials(open(id, secrets)), signal)
      } catch (cause) {
        settings.log.warn({ authorization: id, cause }, 'a session that nobody needs may live on')
      }
    },
  }
}

export const blueskyNetwork = (whole: NetworkSettings): BlueskyNetwork => {
  const { sealer, ...settings } = whole
  const seal = (id: string, credentials: BlueskyCredentials): string =>
    sealer.seal(stringifyBlueskyCredentials(credentials), credentialsRow(id)).toString('base64')
  const open = ({ id, credentials }: NetworkAccount): string =>
    sealer.open(Buffer.from(credentials ?? '', 'base64'), credentialsRow(id))
  const bluesky = createBluesky({ ...settings, open })
  const sessionOf = (credentials: BlueskyCredentials): ConnectedAccount['session'] => ({
    seal: (id) => seal(id, credentials),
    endsAt: new Date(credentials.accessEndsAt),
  })
  const credentialsOf = (account: NetworkAccount) => parseBlueskyCredentials(open(account))
  return {
    ...bluesky,
    service: settings.service,
    isHandle: (name) => handleIn(name) !== undefined,
    async connect(wanted, signal) {
      const { credentials, handle, displayName } = await bluesky.signIn(wanted, signal)
      const session = sessionOf(credentials)
      return { externalId: credentials.did, handle, displayName, session }
    },
    oauth: oauthOf(bluesky, whole, sessionOf),
    sessions: {
      async renew(account, signal) {
        const renewal = await bluesky.renew(credentialsOf(account), signal)
        if (renewal.kind === 'unanswered' || renewal.kind === 'refused') return renewal
        const { credentials, ...told } = renewal
        const sealed = credentials && seal(account.id, credentials)
        if (told.kind === 'suspended') return { ...told, ...(sealed && { credentials: sealed }) }
        const endsAt = new Date(renewal.credentials!.accessEndsAt)
        return { kind: 'renewed', credentials: sealed!, endsAt }
      },
      end: (account, signal) =>
        bluesky.signOut(credentialsOf(account), signal).then(
          () => true,
          (cause: unknown) => {
            if (cause instanceof NetworkError) return false
            throw cause
          },
        ),
    },
  }
}
