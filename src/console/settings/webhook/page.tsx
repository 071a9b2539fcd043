/** The webhook: its endpoint, its health, a test, its secrets, and the log of its deliveries. */
import { useId } from 'react'
import { useShownOnce } from '../../parts/shown-once.tsx'
import { ReadView } from '../../parts/states.tsx'
import { Deliveries } from './deliveries.tsx'
import { EndpointForm } from './endpoint-form.tsx'
import { Health } from './health.tsx'
import { useWebhook } from './read.ts'
import { type NewSecret, SecretOnce } from './secret-once.tsx'

export const WebhookPage = () => {
  const id = useId()
  const { read, isUnset, webhook } = useWebhook()
  const [secret, setSecret] = useShownOnce<NewSecret>()
  return (
    <section className="page" aria-labelledby={id}>
      <h2 id={id}>Webhook</h2>
      <p className="soft">
        Tendril posts events to an address of yours as they happen: drafts are ready, a post went
        out, a job of the agent is over. Each is signed, as Standard Webhooks 1.0 has it.
      </p>
      {secret && <SecretOnce made={secret} close={() => setSecret(undefined)} />}
      {isUnset ? (
        <EndpointForm webhook={undefined} showSecret={setSecret} />
      ) : (
        <ReadView read={read} what="The webhook">
          {webhook && (
            <>
              <Health webhook={webhook} showSecret={setSecret} />
              <EndpointForm webhook={webhook} showSecret={setSecret} />
            </>
          )}
        </ReadView>
      )}
      <Deliveries isActive={webhook?.status === 'active'} />
    </section>
  )
}
