/** What becomes of a sign-in by OAuth once its person comes back from the network. */
import { AppError, fail } from '#kernel/errors'
import type { BlueskyNetwork } from '#port/network/bluesky/network'
import { OauthTrouble } from '#port/network/bluesky/oauth/server'
import { NetworkError } from '#port/network/network'
import { type BegunAuthorization, keepSecrets, takeAuthorization } from '#store/app/authorizations'
import type { Db } from '#store/engine/db'
import { hashOfState, requireOpen } from './authorizing.ts'

/** What the person brings back, in the address. */
export interface Brought {
  state: string
  code: string | null
  /** The server that says it has sent them. */
  iss: string | null
  error: string | null
}

/** An internal operation on the sign-in, as the person. */
type Settle = (
  operation: 'operator.authorizations.connect' | 'operator.authorizations.refuse',
  input: object,
) => Promise<unknown>

interface Ending {
  db: Db
  bluesky: Pick<BlueskyNetwork, 'oauth'>
  settle: Settle
}

const REDEEM_MS = 25_000
const ABANDON_MS = 5_000
export const LONGEST_REASON = 500

const STALE =
  'this sign-in was continued in another tab, or its address was changed: go on there, or begin again'

const ERROR_NAME = /^[a-z_]{1,60}$/

/** What the network says instead of granting access, in words of ours alone. */
const wordsOf = (error: string): string => {
  if (error === 'access_denied')
    return 'access was not granted on the page of the network, so nothing was connected: begin again if that was a mistake'
  const name = ERROR_NAME.test(error) ? error : 'an unknown error'
  return `the network ended the sign-in (${name}), so nothing was connected: begin again, or connect the account by an app password`
}

const SILENT =
  'the network did not answer, so nothing was connected: begin again in a moment, or connect the account by an app password'

/** For people, without words of others; undefined if the fault is ours. */
export const reasonOf = (cause: unknown): string | undefined => {
  if (cause instanceof OauthTrouble) return cause.message
  if (cause instanceof NetworkError) return SILENT
  if (cause instanceof AppError && cause.status < 500) return cause.message
  return undefined
}

const refuse = ({ settle }: Ending, id: string, reason: string): Promise<unknown> =>
  settle('operator.authorizations.refuse', { id, reason: reason.slice(0, LONGEST_REASON) })

interface Redeemed {
  account: { externalId: string; handle: string; displayName: string | null }
  secrets: Buffer
}

/**
 * Connects the account. If that is refused for certain, the session is ended; otherwise it may
 * have been connected all the same.
 */
const connect = async (
  { db, bluesky, settle }: Ending,
  id: string,
  { account: { externalId, handle, displayName }, secrets }: Redeemed,
): Promise<void> => {
  await keepSecrets(db, id, secrets)
  const account = { external_id: externalId, handle, display_name: displayName }
  try {
    await settle('operator.authorizations.connect', { id, account })
  } catch (cause) {
    if (AppError.from(cause).status < 500) {
      await bluesky.oauth.abandon(id, secrets, AbortSignal.timeout(ABANDON_MS))
      await keepSecrets(db, id, null)
    }
    throw cause
  }
}

const redeem = async (
  { bluesky: { oauth } }: Ending,
  id: string,
  { code, iss, secrets }: Pick<Brought, 'code' | 'iss'> & { secrets: Buffer },
): Promise<Redeemed> => {
  if (code === null) return fail('invalid_input', 'the network sent no access: begin again')
  return oauth.redeem(id, { code, issuer: iss ?? '', secrets }, AbortSignal.timeout(REDEEM_MS))
}

/**
 * Ends a sign-in, once. Throws `conflict` if it was ended before, or is too old; what else goes
 * wrong is told by how it stands afterwards.
 */
export const endAuthorization = async (
  ending: Ending,
  begun: BegunAuthorization,
  brought: Brought,
): Promise<void> => {
  const { id } = begun
  requireOpen(begun)
  const secrets = await takeAuthorization(ending.db, {
    id,
    stateHash: hashOfState(brought.state),
  })
  if (!secrets) return fail('conflict', STALE, { reason: 'wrong_state' })
  if (brought.error !== null) return void (await refuse(ending, id, wordsOf(brought.error)))
  const redeemed = await redeem(ending, id, { ...brought, secrets }).catch(async (cause) => {
    const reason = reasonOf(cause)
    if (reason === undefined) throw cause
    await refuse(ending, id, reason)
  })
  if (redeemed) await connect(ending, id, redeemed)
}
