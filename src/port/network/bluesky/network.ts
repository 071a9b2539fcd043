/** Bluesky as a network of this deployment: its accounts' credentials are sealed in their rows. */
import type { Sealer } from '#kernel/sealer'
import { credentialsRow } from '#store/growth/connections'
import {
  type Network,
  type NetworkAccount,
  NetworkError,
  type NetworkSessions,
} from '../network.ts'
import { type BlueskySettings, createBluesky } from './bluesky.ts'
import {
  type BlueskyCredentials,
  parseBlueskyCredentials,
  stringifyBlueskyCredentials,
} from './credentials.ts'
import { handleIn } from './refs.ts'

interface SignIn {
  handle: string
  /** An app password. */
  password: string
  service?: string | undefined
  /** Whether the password is kept. */
  keep: boolean
}

interface ConnectedAccount {
  externalId: string
  handle: string
  displayName: string | null
  session: { seal(id: string): string; endsAt: Date }
}

export interface BlueskyNetwork extends Network {
  /** Where people sign in who name no other server. */
  readonly service: string
  /** Whether somebody there can have this name, which has no `@`. */
  isHandle(name: string): boolean
  /** Signs in. Throws `NetworkError`, and `AppError` for input that Bluesky refuses. */
  connect(wanted: SignIn, signal: AbortSignal): Promise<ConnectedAccount>
  readonly sessions: NetworkSessions
}

interface NetworkSettings extends Omit<BlueskySettings, 'open'> {
  sealer: Sealer
}

export const blueskyNetwork = ({ sealer, ...settings }: NetworkSettings): BlueskyNetwork => {
  const seal = (id: string, credentials: BlueskyCredentials): string =>
    sealer.seal(stringifyBlueskyCredentials(credentials), credentialsRow(id)).toString('base64')
  const open = ({ id, credentials }: NetworkAccount): string =>
    sealer.open(Buffer.from(credentials ?? '', 'base64'), credentialsRow(id))
  const bluesky = createBluesky({ ...settings, open })
  const credentialsOf = (account: NetworkAccount) => parseBlueskyCredentials(open(account))
  return {
    ...bluesky,
    service: settings.service,
    isHandle: (name) => handleIn(name) !== undefined,
    async connect(wanted, signal) {
      const { credentials, handle, displayName } = await bluesky.signIn(wanted, signal)
      const endsAt = new Date(credentials.accessEndsAt)
      const session = { seal: (id: string) => seal(id, credentials), endsAt }
      return { externalId: credentials.did, handle, displayName, session }
    },
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
