/** An account whose network no longer takes what it was connected with. */
import type { Connection } from '#domain/growth/sending/connection'
import type { Network } from '#port/network/network'
import type { Effects, NewWork } from '#store/engine/letter'
import { disconnect, markAccountLost } from '#store/growth/connections'
import { newWork } from '../work.ts'

type Lost = Parameters<typeof markAccountLost>[1]

/** Renews the credentials of an account, or ends those of a disconnected one. */
export const renewalWork = ({ id }: Pick<Connection, 'id'>, runAt: Date): NewWork =>
  newWork('renewal', { refId: id, origin: 'manual', runAt })

type LostEffects = Required<Pick<Effects, 'writes' | 'events'>>

/** Its words are ours, never the network's: agents read them as the workspace's own. */
export const lostEffects = (connection: Connection, lost: Lost, now: Date): LostEffects => ({
  writes: [markAccountLost(connection.id, lost, now)],
  events: [
    {
      type: 'growth.connection.lost',
      data: {
        connection_id: connection.id,
        network: connection.network,
        handle: connection.handle,
        status: lost.status,
        reason: lost.reason,
      },
    },
  ],
})

const REFUSED = {
  status: 'needs_reauth',
  reason: 'the network no longer accepts what the account was connected with; connect it again',
} as const
const STOPPED = {
  status: 'suspended',
  reason: 'the network has stopped the account; ask there, then connect it again',
} as const

/**
 * A network has answered that the account cannot be used. One that has sessions asks for a new
 * sign-in; without, the account is disconnected.
 */
export const refusedAccount = (
  { sessions }: Network,
  connection: Connection,
  { isSuspended = false, now }: { isSuspended?: boolean | undefined; now: Date },
): LostEffects =>
  sessions
    ? lostEffects(connection, isSuspended ? STOPPED : REFUSED, now)
    : { writes: [disconnect(connection.id, now)], events: [] }
