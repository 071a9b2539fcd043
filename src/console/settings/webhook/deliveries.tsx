/** The log of deliveries, newest first. */
import { useState } from 'react'
import { useReadPages } from '../../api/read-pages.ts'
import { useCommand } from '../../api/use-command.ts'
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { More } from '../../parts/more.tsx'
import { Empty, Failed, ReadView } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { Outcome, type WebhookEvent } from './outcome.tsx'
import { readWebhookAgain } from './read.ts'

const filters = {
  all: 'All',
  pending: 'Waiting',
  delivered: 'Delivered',
  dead: 'Given up',
} as const
type Filter = keyof typeof filters

const LOOK_MS = 3_000
/** Of an event that is tried sooner than this, the outcome is worth waiting for. */
const SOON_MS = 60_000

const isUnderway = ({ state, next_at }: WebhookEvent): boolean =>
  state === 'pending' && next_at !== null && Date.parse(next_at) < Date.now() + SOON_MS

const Row = ({ event, isActive }: { event: WebhookEvent; isActive: boolean }) => {
  const replay = useCommand('app.webhook.replay')
  const act = async () => {
    if (!(await replay.run({ id: event.id }))) return
    notify({ says: 'It is sent again, under the same id', about: event.type })
    await readWebhookAgain()
  }
  const refused = !isActive
    ? 'The webhook is not active.'
    : event.state === 'pending' && event.attempts === 0
      ? 'It is about to be sent.'
      : undefined
  return (
    <li className="card">
      <div className="card-head">
        <h4 className="mono">{event.type}</h4>
        <ActionButton
          calls="app.webhook.replay"
          refused={refused}
          busy={replay.isRunning}
          label={`Replay ${event.type} ${event.id}`}
          act={() => void act()}
        >
          Replay
        </ActionButton>
      </div>
      <p>
        <Outcome event={event} />
      </p>
      <p className="soft">
        <When at={event.created_at} />
        {event.subject !== null && (
          <>
            {' · about '}
            <bdi className="mono">{event.subject}</bdi>
          </>
        )}
        {event.expires_at && (
          <>
            {' · kept until '}
            <When at={event.expires_at} />
          </>
        )}
      </p>
      {replay.cause !== undefined && <Failed cause={replay.cause} what="It was not replayed." />}
    </li>
  )
}

export const Deliveries = ({ isActive }: { isActive: boolean }) => {
  const [filter, setFilter] = useState<Filter>('all')
  const pages = useReadPages(
    'app.webhook.events',
    { limit: 25, ...(filter !== 'all' && { state: filter }) },
    {
      again: (read) =>
        read.some(({ events }) => events.some(isUnderway)) ? LOOK_MS * read.length : false,
    },
  )
  const events = pages.data?.pages.flatMap((page) => page.events) ?? []
  return (
    <>
      <div className="page-title">
        <h3>Log</h3>
        <label className="chooser">
          Show{' '}
          <select value={filter} onChange={({ target }) => setFilter(target.value as Filter)}>
            {Object.entries(filters).map(([value, says]) => (
              <option key={value} value={value}>
                {says}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ReadView read={pages} what="The log">
        {events.length === 0 ? (
          <Empty title="Nothing here">
            <p>
              {filter === 'all'
                ? 'Delivered events are kept for a day, those that were given up for 30 days.'
                : 'No event is in this state.'}
            </p>
          </Empty>
        ) : (
          <ul className="cards" aria-label="Deliveries">
            {events.map((event) => (
              <Row key={event.id} event={event} isActive={isActive} />
            ))}
          </ul>
        )}
        <More pages={pages} what="events" />
      </ReadView>
    </>
  )
}
