/** The text and the next call for `x_not_connected` if other connected accounts could be used. */
import type { ErrorDetail } from '#kernel/errors'
import { nextCall } from '../way-on.ts'
import type { Connection } from './connection.ts'
import type { SendableKind } from './sendable.ts'

export type Choice = Pick<Connection, 'id' | 'network' | 'handle'>

/** The most accounts that an error names. */
export const MOST_NAMED = 5

export const CHOOSING = 'growth.connections.setDefault'

/**
 * The operation that turns a record whose account is gone back into a draft, so that its next
 * approval binds it to another account.
 */
const REBINDING: Record<SendableKind, { operation: string; words: string }> = {
  post: { operation: 'growth.items.edit', words: 'growth.items.edit takes another as account' },
  engagement: {
    operation: 'growth.engagements.reopen',
    words:
      'growth.engagements.reopen makes a draft of it again, and its next approval takes the default account',
  },
}

/** The record that cannot be sent. */
export interface Stranded {
  id: string
  kind: SendableKind
  noun: string
  /** The handle of the account that its approval is bound to; null for the default account. */
  boundTo: string | null
  /** The network that it is for; null for any. */
  network: string | null
}

const nameOf = ({ id, network, handle }: Choice): string => `@${handle} on ${network} (${id})`

const namesOf = (accounts: readonly Choice[]): string => {
  const named = accounts.slice(0, MOST_NAMED).map(nameOf).join(', ')
  return accounts.length > MOST_NAMED ? `${named} and more (growth.connections.list)` : named
}

interface Refusal {
  /** The text that follows the error's code; empty if nothing else is connected. */
  detail: string
  details?: ErrorDetail[]
}

/** `accounts`: the connected accounts, or the first `MOST_NAMED` and one more. */
export const notConnectedWords = (accounts: readonly Choice[], record?: Stranded): Refusal => {
  if (accounts.length === 0) return { detail: '' }
  const connected = `connected: ${namesOf(accounts)}`
  if (record?.boundTo) {
    const { operation, words } = REBINDING[record.kind]
    const why = `the ${record.noun} was approved for @${record.boundTo}, which is disconnected`
    return { detail: `${why}; ${connected}; ${words}`, details: [nextCall(operation, record.id)] }
  }
  const fitting = accounts.filter(
    ({ network }) => record?.network == null || network === record.network,
  )
  if (fitting.length === 0)
    return {
      detail: `the ${record!.noun} is for ${record!.network}, where no account is connected; ${connected}`,
    }
  const details = fitting.slice(0, MOST_NAMED).map(({ id }) => nextCall(CHOOSING, id))
  const which = record?.network == null ? '' : ` of ${record.network}`
  return { detail: `no account${which} is the default; ${connected}; ${CHOOSING} chooses`, details }
}
