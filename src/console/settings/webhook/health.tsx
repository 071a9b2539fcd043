/** How the endpoint does, and what an owner can do with it. */
import { useState } from 'react'
import type { OperationId } from '../../api/operations.ts'
import { useCommand } from '../../api/use-command.ts'
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { AskFirst } from '../../parts/dialog.tsx'
import { Failed } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { readWebhookAgain, type Webhook } from './read.ts'
import type { NewSecret } from './secret-once.tsx'
import { TestDelivery } from './test-delivery.tsx'

const DISABLED = 'The webhook is disabled. Enable it first.'

const stateOf = ({ status, failing_since }: Webhook): [tone: string, says: string] => {
  if (status === 'disabled') return ['is-bad', 'Disabled']
  return failing_since ? ['is-care', 'Failing'] : ['is-go', 'Active']
}

const State = ({ webhook }: { webhook: Webhook }) => {
  const [tone, says] = stateOf(webhook)
  const { failing_since, held_until, previous_secret_until, disabled_reason, waiting } = webhook
  return (
    <>
      <div className="card-head">
        <h3>State</h3>
        <span className={`badge ${tone}`}>{says}</span>
      </div>
      <ul className="lines">
        {webhook.status === 'disabled' && (
          <li>
            Nothing is sent
            {disabled_reason && (
              <>
                : <bdi>{disabled_reason}</bdi>
              </>
            )}
            . Events of this time are not kept for later.
          </li>
        )}
        {failing_since && (
          <li>
            Nothing has been delivered since <When at={failing_since} />. After five days of this it
            is disabled.
          </li>
        )}
        {held_until && (
          <li>
            Your receiver asked for a pause until <When at={held_until} />.
          </li>
        )}
        {previous_secret_until && (
          <li>
            Until <When at={previous_secret_until} /> events are signed with both secrets, the new
            one and the previous one.
          </li>
        )}
        <li>
          {waiting === 0
            ? 'No event waits.'
            : waiting === 1
              ? 'One event waits to be sent.'
              : `${waiting} events wait to be sent.`}
        </li>
      </ul>
    </>
  )
}

type Asked = 'rotate' | 'disable' | undefined

const ASKS = {
  rotate: {
    title: 'Rotate the signing secret?',
    does: 'Rotate',
    calls: 'app.webhook.rotate',
    says: 'You are shown a new secret, once. For 24 hours events are signed with the present one as well.',
  },
  disable: {
    title: 'Disable the webhook?',
    does: 'Disable',
    calls: 'app.webhook.disable',
    says: 'Nothing further is sent. Events that wait now are dropped; they stay in the log for 30 days, where you can replay them. The address and the secret stay.',
  },
} as const satisfies Record<string, { calls: OperationId } & Record<string, string>>

interface HealthProps {
  webhook: Webhook
  showSecret(secret: NewSecret): void
}

const useHealth = ({ showSecret }: HealthProps, close: () => void) => {
  const rotate = useCommand('app.webhook.rotate')
  const disable = useCommand('app.webhook.disable')
  const enable = useCommand('app.webhook.update')
  const turn = async () => {
    const made = await rotate.run({})
    if (!made) return
    close()
    showSecret({ secret: made.secret, previousUntil: made.webhook.previous_secret_until })
    await readWebhookAgain()
  }
  const end = async () => {
    const done = await disable.run({})
    if (!done) return
    close()
    const late = done.in_flight.length > 0
    notify({ says: late ? 'Webhook disabled; one event was on its way' : 'Webhook disabled' })
    await readWebhookAgain()
  }
  const begin = async () => {
    if (!(await enable.run({}))) return
    notify({ says: 'Webhook enabled' })
    await readWebhookAgain()
  }
  return { rotate: { ...rotate, act: turn }, disable: { ...disable, act: end }, enable, begin }
}

const AskedFirst = ({
  asked,
  webhook,
  of,
  close,
}: {
  asked: NonNullable<Asked>
  webhook: Webhook
  of: { isRunning: boolean; cause: unknown; act(): Promise<void> }
  close(): void
}) => (
  <AskFirst
    title={ASKS[asked].title}
    does={ASKS[asked].does}
    tone="harm"
    busy={of.isRunning}
    act={() => void of.act()}
    close={close}
  >
    <p>
      <strong>
        <bdi>{webhook.host}</bdi>
      </strong>
    </p>
    <p>{ASKS[asked].says}</p>
    {asked === 'rotate' && webhook.previous_secret_until && (
      <p>The one before the present one, which still signs, ends at once.</p>
    )}
    {of.cause !== undefined && <Failed cause={of.cause} what="It was not done." />}
  </AskFirst>
)

export const Health = (props: HealthProps) => {
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  const does = useHealth(props, close)
  const isActive = props.webhook.status === 'active'
  const refused = isActive ? undefined : DISABLED
  return (
    <div className="panel">
      <State webhook={props.webhook} />
      {does.enable.cause !== undefined && (
        <Failed cause={does.enable.cause} what="It was not enabled." />
      )}
      <div className="panel-actions">
        {isActive ? (
          <ActionButton calls="app.webhook.disable" tone="harm" act={() => setAsked('disable')}>
            Disable
          </ActionButton>
        ) : (
          <ActionButton
            calls="app.webhook.update"
            tone="go"
            busy={does.enable.isRunning}
            act={() => void does.begin()}
          >
            Enable
          </ActionButton>
        )}
        <ActionButton calls="app.webhook.rotate" refused={refused} act={() => setAsked('rotate')}>
          Rotate the secret
        </ActionButton>
        <TestDelivery refused={refused} />
      </div>
      {asked && <AskedFirst asked={asked} webhook={props.webhook} of={does[asked]} close={close} />}
    </div>
  )
}
