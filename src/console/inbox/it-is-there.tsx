/** A person says that something is on the network: from then on it counts as sent. */
import { command } from '../api/queries.ts'
import { AskForAddress } from './ask-for-address.tsx'
import type { ListDecision } from './decide.ts'

type Sendable = 'item' | 'engagement'

/** The operation that says so. */
export const marksAsSent = {
  item: 'growth.items.markPosted',
  engagement: 'growth.engagements.done',
} as const satisfies Record<Sendable, string>

export const markAsSent = (
  record: Sendable,
  id: string,
  url: string | undefined,
): Pick<ListDecision<unknown>, 'says' | 'act'> =>
  record === 'item'
    ? { says: 'Posted', act: () => command(marksAsSent.item, { id, url }) }
    : { says: 'Done', act: () => command(marksAsSent.engagement, { id, url }) }

interface ThereProps {
  record: Sendable
  /** Its address, as far as it is known. */
  known?: string
  settle(url: string | undefined): void
  close(): void
}

export const ItIsThere = ({ record, known = '', settle, close }: ThereProps) => (
  <AskForAddress
    title="It is on the network"
    says={`It becomes ${record === 'item' ? 'posted' : 'done'}, with this address. Nothing is sent.`}
    does={record === 'item' ? 'Mark it posted' : 'Mark it done'}
    known={known}
    act={settle}
    close={close}
  />
)
