/**
 * `tendril admin webhook …`: the owners' webhook operations. Only `set` and `rotate` print a
 * secret, and only once.
 */
import { eventKinds } from '#contract/events'
import { asOperator } from './as-operator.ts'
import { type AdminCommand, type AdminGroup, ofWorkspace, optional, required } from './command.ts'
import { type Flags, text, uuid } from './flags.ts'

/** An operation's answer. */
interface Reply {
  webhook?: object
  event?: { id: string }
}

const LATEST = 40

const shown = (workspace_id: string, { webhook, event, ...rest }: Reply): object => ({
  workspace_id,
  ...webhook,
  ...(event ? { event_id: event.id } : {}),
  ...rest,
})

/** A command that runs the operation of that name. */
const webhookCommand = (
  name: string,
  more: Pick<AdminCommand, 'about' | 'flags'>,
  inputOf: (flags: Flags) => object = () => ({}),
): AdminCommand => ({
  ...more,
  flags: { ...ofWorkspace, ...more.flags },
  run(place, flags) {
    const [input, workspace] = [inputOf(flags), uuid(flags, 'workspace')]
    return asOperator(place, workspace, async (run) =>
      shown(workspace, await run(`app.webhook.${name}`, input)),
    )
  },
})

const kinds = ({ events }: Flags): string[] =>
  typeof events === 'string' ? events.split(',').filter((kind) => kind !== '') : []

export const webhookGroup: AdminGroup = {
  name: 'webhook',
  about: 'the webhook endpoint of a workspace',
  commands: {
    set: webhookCommand(
      'set',
      {
        about: 'Set the endpoint, and print its new secret once',
        flags: { url: required('URL'), events: optional(eventKinds.slice(0, 2).join(',')) },
      },
      (flags) => ({ url: text(flags, 'url'), events: kinds(flags) }),
    ),
    rotate: webhookCommand('rotate', { about: 'Make a new secret, and print it once' }),
    disable: webhookCommand('disable', { about: 'Disable the endpoint' }),
    test: webhookCommand('test', { about: 'Send a test event' }),
    events: webhookCommand('events', { about: `List the latest ${LATEST} events` }, () => ({
      limit: LATEST,
    })),
    replay: webhookCommand(
      'replay',
      { about: 'Deliver an event once more', flags: { id: required('EVENT') } },
      (flags) => ({ id: uuid(flags, 'id') }),
    ),
  },
}
