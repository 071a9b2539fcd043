import type { NewWork } from '#store/engine/letter'
import { newWork } from '../work.ts'

/**
 * The tenant's one row of delivery work; a second one only hastens it. It counts as manual, so
 * pausing all automation does not stop it: events report what happened and change nothing.
 */
export const deliveryWork = ({ tenantId, now }: { tenantId: string; now: Date }): NewWork =>
  newWork('delivery', { refId: tenantId, origin: 'manual', runAt: now })
