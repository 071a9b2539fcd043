import type { connectionRecord } from '#contract/records/growth/connection'
import type { RowOf } from '#contract/records/record'

export type Connection = RowOf<typeof connectionRecord>

/** The most accounts that a workspace can connect. */
export const mostConnected = 50
