/**
 * `x_not_connected`, with the connected accounts and the call that chooses one. These are read only
 * once the error is certain.
 */
import { notConnectedWords, type Stranded } from '#domain/growth/sending/not-connected'
import type { Sendable, Transitions } from '#domain/growth/sending/sendable'
import { AppError } from '#kernel/errors'
import type { Sql } from '#store/engine/db'
import { choicesBut, handleOf } from '#store/growth/connections'

interface About<R extends Sendable> {
  moves: Transitions<R>
  record: R
}

const strandedOf = async <R extends Sendable>(
  sql: Sql,
  { moves, record }: About<R>,
): Promise<Stranded> => {
  const bound = record.account_external_id
  const boundTo = bound === null ? null : ((await handleOf(sql, bound)) ?? null)
  return {
    id: record.id,
    kind: moves.kind,
    noun: moves.noun,
    boundTo,
    network: moves.networkOf(record),
  }
}

/** `but`: an account that this letter is disconnecting. */
export const notConnected = async <R extends Sendable>(
  sql: Sql,
  { about, but = null }: { about?: About<R>; but?: string | null } = {},
): Promise<AppError> => {
  const { detail, details } = notConnectedWords(
    await choicesBut(but)(sql),
    about && (await strandedOf(sql, about)),
  )
  return new AppError('x_not_connected', detail, details ? { details } : {})
}
