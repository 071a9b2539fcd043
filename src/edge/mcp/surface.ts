/** The operations of this surface by id: those of the contract, and the surface's own. */
import type { Operation } from '#ops/engine/bind'
import { withBulk } from './bulk.ts'
import { withCapabilities } from './capabilities.ts'
import { withRecords } from './records.ts'

export const toolsById = (all: readonly Operation[]): ReadonlyMap<string, Operation> =>
  new Map(withRecords(withCapabilities(withBulk(all))).map((o) => [o.id, o]))
