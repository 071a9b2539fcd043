/** One connected channel. */
import { channelTraits } from '#domain/agent/channel/channel'
import { When } from '../../parts/when.tsx'
import { LinkCode } from './link-code.tsx'
import { Links } from './links.tsx'
import type { ConnectedChannel } from './read.ts'

const STATES: Record<ConnectedChannel['status'], [tone: string, says: string]> = {
  active: ['is-go', 'Active'],
  unverified: ['is-care', 'Takes nothing in yet'],
  failing: ['is-bad', 'Failing'],
}

const Facts = ({ of: { lastError, lastReceivedAt, senderPolicy } }: { of: ConnectedChannel }) => (
  <ul className="lines soft">
    <li>
      {senderPolicy === 'anyone'
        ? 'Everybody may write to the agent here; only who is linked counts as a member.'
        : 'Only linked senders may write to the agent here.'}
    </li>
    <li>
      {lastReceivedAt ? (
        <>
          The last message came <When at={lastReceivedAt} />.
        </>
      ) : (
        'No message has come yet.'
      )}
    </li>
    {lastError !== null && (
      <li>
        Its provider says: <bdi>{lastError}</bdi>
      </li>
    )}
  </ul>
)

export const ChannelCard = ({ of }: { of: ConnectedChannel }) => {
  const [tone, says] = STATES[of.status]
  return (
    <li className="card">
      <div className="card-head">
        <h3>
          <bdi>{of.displayName}</bdi>
        </h3>
        <span className={`badge ${tone}`}>{says}</span>
      </div>
      <p className="soft">
        {channelTraits[of.channel].name} · <bdi className="mono">{of.routingKey}</bdi>
      </p>
      <Facts of={of} />
      <LinkCode of={of} />
      <Links of={of} />
    </li>
  )
}
