/** What became of an event, in words. */
import type { AnswerOf } from '../../api/operations.ts'
import { When } from '../../parts/when.tsx'

export type WebhookEvent = AnswerOf<'app.webhook.event'>['event']

const times = (count: number): string => (count === 1 ? 'one try' : `${count} tries`)

const LastError = ({ event: { last_error } }: { event: WebhookEvent }) =>
  last_error === null ? null : (
    <>
      {' '}
      <bdi>{last_error}</bdi>
    </>
  )

export const Outcome = ({ event }: { event: WebhookEvent }) => {
  const { state, attempts, next_at } = event
  if (state === 'delivered')
    return (
      <>
        <span className="badge is-go">Delivered</span> after {times(attempts)}.
      </>
    )
  if (state === 'dead')
    return (
      <>
        <span className="badge is-bad">Given up</span> after {times(attempts)}.
        <LastError event={event} />
      </>
    )
  if (attempts === 0)
    return (
      <>
        <span className="badge">Waits</span> for its first try.
      </>
    )
  return (
    <>
      <span className="badge is-care">Failed</span> {times(attempts)} so far
      {next_at && (
        <>
          , the next one <When at={next_at} />
        </>
      )}
      .
      <LastError event={event} />
    </>
  )
}
