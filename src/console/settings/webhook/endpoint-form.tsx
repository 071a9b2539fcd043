/** The address and the kinds of events. */
import { useState } from 'react'
import { mayCall } from '../../api/operations.ts'
import { faultOf, useCommand } from '../../api/use-command.ts'
import { boot } from '../../boot.ts'
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { ChoiceList, TextField } from '../../parts/fields.tsx'
import { Failed } from '../../parts/states.tsx'
import { type EventKind, isEventKind, kindRows } from './kinds.ts'
import { readWebhookAgain, type Webhook } from './read.ts'
import type { NewSecret } from './secret-once.tsx'

interface FormProps {
  /** Undefined if none is set. */
  webhook: Webhook | undefined
  showSecret(secret: NewSecret): void
}

const allOrSome = [
  { value: 'all', says: 'All, and those that are added later' },
  { value: 'some', says: 'Some' },
] as const

const kindChoices = kindRows.map(([value, hint]) => ({ value, says: value, hint }))

interface Typed {
  url: string
  which: 'all' | 'some'
  events: EventKind[]
}

const typedOf = (webhook: Webhook | undefined): Typed => {
  const events = webhook?.events.filter(isEventKind) ?? []
  return { url: webhook?.url ?? '', which: events.length > 0 ? 'some' : 'all', events }
}

const wishOf = ({ url, which, events }: Typed) => ({
  url: url.trim(),
  events: which === 'all' ? [] : events,
})

const sameWish = (one: Typed, other: Typed): boolean => {
  const [a, b] = [wishOf(one), wishOf(other)]
  return a.url === b.url && [...a.events].sort().join() === [...b.events].sort().join()
}

/** Why it cannot be saved yet. */
const missingOf = (typed: Typed, webhook: Webhook | undefined): string | undefined => {
  if (typed.url.trim() === '') return 'Give an address first.'
  if (typed.which === 'some' && typed.events.length === 0)
    return 'Choose at least one kind, or all.'
  return webhook && sameWish(typed, typedOf(webhook)) ? 'Nothing has been changed.' : undefined
}

/** Shows the server's values until something is typed, and again once that is saved. */
const useEndpoint = ({ webhook, showSecret }: FormProps) => {
  const [set, update] = [useCommand('app.webhook.set'), useCommand('app.webhook.update')]
  const [typed, setTyped] = useState<Typed>()
  const shown = typed ?? typedOf(webhook)
  const create = async () => {
    const made = await set.run(wishOf(shown))
    if (made) showSecret({ secret: made.secret, previousUntil: null })
    return made
  }
  const save = async () => {
    if (set.isRunning || update.isRunning) return
    const done = await (webhook ? update.run(wishOf(shown)) : create())
    if (!done) return
    notify({ says: webhook ? 'Webhook saved' : 'Webhook set', about: done.webhook.host })
    await readWebhookAgain()
    setTyped(undefined)
  }
  const { cause, isRunning } = webhook ? update : set
  const type = (part: Partial<Typed>) => setTyped({ ...shown, ...part })
  return { ...shown, type, missing: missingOf(shown, webhook), save, cause, isRunning }
}

const ReadOnly = ({ webhook }: { webhook: Webhook | undefined }) => (
  <div className="panel">
    <h3>Endpoint</h3>
    {webhook ? (
      <dl className="facts">
        <div>
          <dt>Host</dt>
          <dd>
            <bdi>{webhook.host}</bdi>
          </dd>
        </div>
        <div>
          <dt>Kinds</dt>
          <dd>{webhook.events.length > 0 ? webhook.events.join(', ') : 'All'}</dd>
        </div>
      </dl>
    ) : (
      <p>No webhook is set.</p>
    )}
    <p className="soft">
      Only owners can set it, and see the whole address, which may hold a token.
    </p>
  </div>
)

const withOrWithout = (kinds: EventKind[], kind: EventKind): EventKind[] =>
  kinds.includes(kind) ? kinds.filter((one) => one !== kind) : [...kinds, kind]

type EndpointFields = ReturnType<typeof useEndpoint>

const Address = ({ form }: { form: EndpointFields }) => (
  <TextField
    label="Address"
    hint="A public https address that answers with 2xx within 15 seconds."
    fault={faultOf(form.cause, 'url')}
    type="text"
    inputMode="url"
    value={form.url}
    change={(url) => form.type({ url })}
    maxLength={2_048}
    autoComplete="off"
    spellCheck={false}
    placeholder="https://hooks.example.com/tendril"
  />
)

const Kinds = ({ form }: { form: EndpointFields }) => (
  <>
    <ChoiceList
      legend="Kinds of events"
      type="radio"
      choices={allOrSome}
      chosen={[form.which]}
      choose={(which) => form.type({ which })}
      fault={faultOf(form.cause, 'events')}
    />
    {form.which === 'some' && (
      <ChoiceList
        legend="These"
        type="checkbox"
        choices={kindChoices}
        chosen={form.events}
        choose={(kind) => form.type({ events: withOrWithout(form.events, kind) })}
      />
    )}
  </>
)

const Fields = (props: FormProps) => {
  const form = useEndpoint(props)
  return (
    <form
      className="panel"
      aria-label="Endpoint"
      onSubmit={(event) => {
        event.preventDefault()
        if (form.missing === undefined) void form.save()
      }}
    >
      <h3>Endpoint</h3>
      <Address form={form} />
      <Kinds form={form} />
      {form.cause !== undefined && <Failed cause={form.cause} what="The webhook was not saved." />}
      <div className="panel-actions">
        <ActionButton
          calls={props.webhook ? 'app.webhook.update' : 'app.webhook.set'}
          tone="go"
          refused={form.missing}
          busy={form.isRunning}
          act={() => void form.save()}
        >
          {form.isRunning ? 'Saving…' : props.webhook ? 'Save' : 'Set the webhook'}
        </ActionButton>
      </div>
    </form>
  )
}

export const EndpointForm = (props: FormProps) =>
  mayCall(boot.session.role, 'app.webhook.set') ? (
    <Fields {...props} />
  ) : (
    <ReadOnly webhook={props.webhook} />
  )
