/** A test event, and what became of it. */
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { useCommand } from '../../api/use-command.ts'
import { ActionButton } from '../../parts/action.tsx'
import { Failed } from '../../parts/states.tsx'
import { Outcome } from './outcome.tsx'
import { readWebhookAgain } from './read.ts'

const LOOK_MS = 1_000
/** From then on the log tells it. */
const LOOKS = 90

const Watched = ({ id }: { id: string }) => {
  const read = useRead(
    'app.webhook.event',
    { id },
    {
      again: (answer, reads) =>
        answer?.event.state === 'pending' && reads < LOOKS ? LOOK_MS : false,
    },
  )
  const event = read.data?.event
  return (
    <output className="test-outcome">
      {event ? <Outcome event={event} /> : 'The test is on its way…'}
    </output>
  )
}

export const TestDelivery = ({ refused }: { refused: string | undefined }) => {
  const test = useCommand('app.webhook.test')
  const [id, setId] = useState<string>()
  const send = async () => {
    const sent = await test.run({})
    if (!sent) return
    setId(sent.event.id)
    await readWebhookAgain()
  }
  return (
    <>
      <ActionButton
        calls="app.webhook.test"
        refused={refused}
        busy={test.isRunning}
        act={() => void send()}
      >
        Send a test
      </ActionButton>
      {test.cause !== undefined && <Failed cause={test.cause} what="No test was sent." />}
      {id !== undefined && test.cause === undefined && <Watched key={id} id={id} />}
    </>
  )
}
