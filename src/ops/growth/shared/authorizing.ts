/**
 * Signing in to accounts by OAuth: beginning it, and what pages do with the person who comes back.
 * The calls of the network are made beside the mailbox, and their outcome is a letter.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { appConnections } from '#contract/growth/connecting'
import { fail, found } from '#kernel/errors'
import { isUuid, newId } from '#kernel/ids'
import type { BlueskyNetwork } from '#port/network/bluesky/network'
import {
  type BegunAuthorization,
  begunAuthorization,
  forgetAuthorizations,
  insertAuthorization,
  liveAuthorizations,
  mostAuthorizations,
  noteLed,
  type StandingAuthorization,
  standingAuthorization,
} from '#store/app/authorizations'
import type { Db } from '#store/engine/db'
import { personOf } from '#store/engine/principal'
import type { Handlers, Identity, Rates } from '../../engine/call.ts'
import { loading } from '../../engine/loading.ts'

/** For finding the account's server, asking it, and finding the account. */
const ASK_MS = 25_000

/** Where a person sees, and goes on with, a sign-in that they began. */
export const startPath = (id: string): string => `/connections/start/${id}`

type Answered = Omit<StandingAuthorization, 'connection_id' | 'account_handle' | 'display_name'> &
  Partial<StandingAuthorization>

const viewOf = (
  {
    connection_id: accountId,
    account_handle: handle,
    display_name = null,
    is_default: isDefault,
    ...authorization
  }: Answered,
  publicUrl: string,
) => ({
  authorization: {
    ...authorization,
    url: publicUrl + startPath(authorization.id),
    account:
      accountId && handle
        ? { id: accountId, handle, display_name, is_default: isDefault === true }
        : null,
  },
})

const LIFE_MS = 600_000

interface Reachable {
  bluesky: Pick<BlueskyNetwork, 'name' | 'oauth'>
  identity: Pick<Identity, 'publicUrl'>
}

/** The operations by which people begin a sign-in, and see how it stands. */
export const authorizingHandlers = ({
  bluesky: { name: network, oauth },
  identity: { publicUrl },
}: Reachable): Pick<Handlers<typeof appConnections>, 'authorizeBluesky' | 'authorization'> => ({
  authorizeBluesky: loading(
    () => ({ live: liveAuthorizations }),
    async ({ handle = null, service = null, default: isDefault = null }, context, { live }) => {
      oauth.check({ handle, service })
      if (live >= mostAuthorizations)
        fail(
          'conflict',
          `${live} sign-ins were begun in the last ten minutes: wait for their end`,
          {
            reason: 'limit_reached',
          },
        )
      const { now } = context.gate
      const id = newId()
      const asked = { id, network, handle }
      const made = {
        ...asked,
        person_id: personOf(context.principal),
        service,
        is_default: isDefault,
      }
      const expiresAt = new Date(now.getTime() + LIFE_MS)
      const standing = {
        ...asked,
        status: 'pending',
        reason: null,
        is_default: null,
        created_at: now,
        expires_at: expiresAt,
      } as const
      return {
        reply: viewOf(standing, publicUrl),
        effects: { writes: [forgetAuthorizations, insertAuthorization(made, { now, expiresAt })] },
        refId: id,
        auditDetail: { network, ...(handle === null ? {} : { handle }) },
      }
    },
  ),

  async authorization({ id }, { read }) {
    const [standing] = await read(standingAuthorization(id))
    return viewOf(found(standing, 'no such sign-in, or it ended long ago'), publicUrl)
  },
})

/** The sign-in that a person began. Throws `not_found`, and `forbidden` for anybody else. */
export const authorizationFor = async (
  db: Db,
  { id, personId }: { id: string; personId: string },
): Promise<BegunAuthorization> => {
  const begun = found(
    isUuid(id) ? await begunAuthorization(db, id) : undefined,
    'there is no such sign-in to an account, or it ended long ago: begin again',
  )
  if (begun.person_id === personId) return begun
  return fail(
    'forbidden',
    'somebody else began this sign-in, and only they can end it: nothing was connected. Begin one of your own',
  )
}

/** What comes back from the network is for one sign-in, and only for whoever was led there last. */
const newState = (id: string): string => `${id}.${randomBytes(32).toString('base64url')}`
export const hashOfState = (state: string): Buffer => createHash('sha256').update(state).digest()

/** The id of the sign-in that a state is for. Throws `invalid_input`. */
export const idInState = (state: string | null): string =>
  state?.split('.')[0] ||
  fail('invalid_input', 'the address names no sign-in (its state is missing): begin again')

const TOO_LATE =
  'this sign-in was begun more than ten minutes ago, so nothing was connected: begin again'
const USED = 'this sign-in has been used already: begin again to connect another account'
/** Throws `conflict` if nobody can come back any more. */
export const requireOpen = ({
  status,
  is_used: isUsed,
  is_over: isOver,
}: BegunAuthorization): void => {
  if (isUsed || status !== 'pending') fail('conflict', USED, { reason: 'wrong_state' })
  if (isOver) fail('conflict', TOO_LATE, { reason: 'too_late' })
}

interface Leading {
  db: Db
  bluesky: Pick<BlueskyNetwork, 'oauth'>
  rates: Pick<Rates, 'signIn'>
}

/**
 * The page of the network to lead the person to. Throws `conflict`, `invalid_input` and
 * `NetworkError`.
 */
export const leadAuthorization = async (
  { db, bluesky, rates }: Leading,
  begun: BegunAuthorization,
): Promise<string> => {
  requireOpen(begun)
  rates.signIn(begun.tenant_id)
  const { id, handle, service } = begun
  const state = newState(id)
  const signal = AbortSignal.timeout(ASK_MS)
  const { url, secrets } = await bluesky.oauth.begin(id, { handle, service, state }, signal)
  const isNoted = await noteLed(db, { id, stateHash: hashOfState(state), secrets })
  if (!isNoted) fail('conflict', TOO_LATE, { reason: 'too_late' })
  return url
}
