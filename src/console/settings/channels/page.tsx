/** The connected channels: a code that links the reader's own sender, and the links there are. */
import { useId } from 'react'
import { useReadPages } from '../../api/read-pages.ts'
import { More } from '../../parts/more.tsx'
import { Empty, ReadView } from '../../parts/states.tsx'
import { ChannelCard } from './channel-card.tsx'

export const ChannelsPage = () => {
  const id = useId()
  const pages = useReadPages('agent.channels.list', { limit: 10 })
  const connections = pages.data?.pages.flatMap((page) => page.connections) ?? []
  return (
    <section className="page" aria-labelledby={id}>
      <h2 id={id}>Channels</h2>
      <p className="soft">
        By channels people write to the agent from mail, Slack, WhatsApp or SMS. Link your own
        sender, and what comes from it counts as yours, with your role.
      </p>
      <ReadView read={pages} what="The list of channels">
        {connections.length === 0 ? (
          <Empty title="No channel is connected">
            <p>
              Owners and approvers connect one on the command line:{' '}
              <code className="mono">tendril agent channels connect slack</code>
            </p>
          </Empty>
        ) : (
          <ul className="cards" aria-label="Channels">
            {connections.map((connection) => (
              <ChannelCard key={connection.id} of={connection} />
            ))}
          </ul>
        )}
        <More pages={pages} what="channels" />
      </ReadView>
    </section>
  )
}
