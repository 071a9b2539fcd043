/** The work that reads back a post that a person has made by hand. */
import type { NewWork } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { newWork } from '../work.ts'

interface Payload {
  tenantId: string
  /** Reads that failed. */
  tries: number
}

export const postedReadOf = ({ payload }: Work): Payload => payload as unknown as Payload

export const postedReadWork = ({
  tenantId,
  itemId,
  now,
}: {
  tenantId: string
  itemId: string
  now: Date
}): NewWork =>
  newWork('posted_read', {
    refId: itemId,
    origin: 'manual',
    runAt: now,
    payload: { tenantId, tries: 0 },
  })
